"""How records lie in memory while they are sorted: as bytes, key and record side by side, and as objects."""

from __future__ import annotations

from frame.case import WIESEL, Case, Run, Scale, Target


def _sort(scale: Scale) -> Case:
    records = scale.records(3_000_000, 300_000)
    expected = {"count": records, "total": records * (records - 1) // 2}
    runs = tuple(
        Run(layout, WIESEL, "programs/sort_layout.py", {"records": records, "layout": layout}, expected) for layout in ("binary", "objects")
    )
    return Case(
        "sort-layout",
        f"{records:,} records of four fields sorted in memory: taken in, sorted, read (s); what they take (MB)",
        runs,
        (
            Target("sort: time / that of objects", "sort_s", "binary", "objects"),
            Target("memory / that of objects", "data_mb", "binary", "objects", at_most=0.75),
            Target("share of time in garbage collections", "gc_share", "binary", at_most=0.05),
        ),
        figures=("take_s", "sort_s", "read_s", "data_mb", "gc_share", "major_collections"),
    )


def cases(scale: Scale) -> list[Case]:
    """Return the cases."""
    return [_sort(scale)]
