"""Nexmark's queries in SQL over the same files of events, results written nowhere, beside Flink SQL."""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path

from frame.case import PYFLINK, WIESEL, Case, Run, Scale, Target
from frame.peers import CACHE

FOLDER = Path(__file__).parents[1] / "nexmark"
QUERIES = tuple(f"q{n}" for n in range(23) if n != 6)
"""q6 has an OVER over a result that changes, which Flink cannot run."""

THREEFOLD = ("q0", "q1", "q2", "q14", "q21", "q22")
SUBTASKS = 2

# What Flink's guide to tuning says for aggregates: changes by mini-batches, in two phases, DISTINCT split where keys are few.
TUNED = {
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "2 s",
    "table.exec.mini-batch.size": "50000",
    "table.optimizer.distinct-agg.split.enabled": "true",
    "pipeline.object-reuse": "true",
}


def _made(events: int) -> tuple[Path, Path]:
    """Return the folders of the events and of the side input, made once."""
    folder = CACHE / "data" / f"nexmark-{events}-{SUBTASKS}"
    if not folder.exists():
        part = folder.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        (part / "side").mkdir(parents=True)
        (part / "side" / "side.csv").write_text("".join(f"{key},value {key}\n" for key in range(10_000)))
        runpy.run_path(str(FOLDER / "generator.py"))["write"](part / "events", events, SUBTASKS, 7, 10_000)
        part.rename(folder)
    _read(folder / "events")
    return folder / "events", folder / "side"


def _read(folder: Path) -> None:
    """Have files in the page cache: what is measured is neither the disk nor who comes first."""
    for path in folder.iterdir():
        with path.open("rb", buffering=0) as file:
            while file.read(1 << 24):
                pass


def _case(query: str, events: int) -> Case:
    arguments = {
        "query": query,
        "records": events,
        "parallelism": SUBTASKS,
        "events": lambda: _made(events)[0],
        "side": lambda: _made(events)[1],
    }
    runs = (
        Run("wiesel", WIESEL, "programs/nexmark.py", arguments, {"records": events}),
        Run("flink", PYFLINK, "programs/nexmark.py", arguments, {"records": events}, TUNED),
    )
    least = 3.0 if query in THREEFOLD else 0.7
    targets = (Target(f">= {least:g}x Flink SQL", "rate", "wiesel", "flink", at_least=least),)
    title = f"Nexmark {query}, {events:,} events, start of the job included"
    return Case(f"nexmark-{query}", title, runs, targets, ("rate", "seconds", "cpu_s"))


def cases(scale: Scale) -> list[Case]:
    """Return a case per query."""
    return [_case(query, scale.records(10_000_000, 200_000)) for query in QUERIES]
