"""Internal. State kept by each kind of relation, its TTL, and the consequences: for EXPLAIN.

``_KEPT`` has a line per kind of relation; those without a line keep nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from wiesel.core.durations import Duration, format_duration
from wiesel.sql.plan.changelog import changes_of
from wiesel.sql.plan.interval_joins import interval_of
from wiesel.sql.plan.relations import JoinType, Relation
from wiesel.sql.plan.window_relations import window_of_top, windows_of_join

__all__ = ["Kept", "advice", "kept_by", "shown"]


@dataclass(frozen=True)
class Kept:
    """A part of a relation's state.

    Attributes:
        what: The rows or values.
        ttl_ms: After which time it is forgotten if it is not written again; 0 for never, None where time to live does not count.
        until: Where it does not count: how long it is kept.
        grows: Whether there is more of it the more keys or rows there are, if nothing is forgotten.
        expired: What happens to results when it is forgotten too early.
    """

    what: str
    ttl_ms: int | None = None
    until: str = ""
    grows: bool = True
    expired: str = ""

    @property
    def duration(self) -> str:
        """The TTL of the state."""
        if self.ttl_ms is None:
            return self.until
        return f"for {shown(self.ttl_ms)} after it was last written" if self.ttl_ms else "for ever"

    def __str__(self) -> str:
        return f"{self.what}, {self.duration}"


def shown(ms: int) -> str:
    """Return a time as options have it."""
    return format_duration(Duration.of_millis(ms))


def kept_by(relation: Relation, job_ttl_ms: int) -> list[Kept]:
    """Return what a relation keeps in a job whose state lives so long (0 for ever) where nothing else is said."""
    find = _KEPT.get(relation.name)
    return [] if find is None else list(find(relation, job_ttl_ms))


def advice(relation: Relation, job_ttl_ms: int) -> Iterator[str]:
    """Yield what there is to say about the state of a relation: that it grows without end, or what happens when it is forgotten."""
    for kept in kept_by(relation, job_ttl_ms):
        if kept.ttl_ms == 0 and kept.grows:
            yield (
                f"{relation.name} keeps {kept.what} for ever: where keys go out of use, set 'table.exec.state.ttl'"
                + (" or the hint STATE_TTL." if relation.name in ("Join", "Aggregate") else ".")
            )
        elif kept.ttl_ms:
            yield f"{relation.name} forgets {kept.what} {shown(kept.ttl_ms)} after it was last written: {kept.expired}."
        elif kept.ttl_ms is None and kept.grows and kept.until == "for ever":
            yield f"{relation.name} keeps {kept.what} for ever, also with 'table.exec.state.ttl'."


def _of_aggregate(relation: Any, job: int) -> Iterator[Kept]:
    ttl = job if relation.ttl is None else relation.ttl
    parts = ["a row of accumulators per group" if relation.keys else "one row of accumulators"]
    if any(call.distinct for call in relation.calls) and not relation.phases.buckets:
        parts.append("the values of DISTINCT")
    if not changes_of(relation.input).append_only and any(call.function in ("MIN", "MAX") for call in relation.calls):
        parts.append("all values of MIN and MAX")
    yield Kept(
        " and ".join(parts),
        ttl,
        grows=bool(relation.keys) or len(parts) > 1,
        expired="a group to which a row comes later begins anew, as if none had come before",
    )


def _of_tables(relation: Any, job: int) -> Iterator[Kept]:
    later = "a group to which a row comes later begins anew, as if none had come before"
    yield Kept("the accumulator of each group", job, grows=bool(relation.keys), expired=later)


def _of_join(relation: Any, job: int) -> Iterator[Kept]:
    if windows_of_join(relation) is not None:
        yield Kept("the rows of both sides", until="until their window is over")
        return
    if interval_of(relation) is not None and all(changes_of(side).append_only for side in relation.inputs):
        yield Kept("the rows of both sides", until="until the watermark has passed the times of their partners")
        return
    sides = zip(("left", "right"), relation.ttl, strict=True)
    for side, ttl in sides:
        outer = relation.type is not JoinType.INNER
        yield Kept(
            f"the rows of the {side} side",
            job if ttl is None else ttl,
            expired="a row that comes later to the other side finds no partner there" + (", and comes out as one without" if outer else ""),
        )


def _of_top(relation: Any, job: int) -> Iterator[Kept]:
    if window_of_top(relation) is not None:
        yield Kept("the first rows of each partition", until="until their window is over")
        return
    appends = changes_of(relation.input).append_only
    if relation.waits_for_watermark and appends:
        yield Kept("a row per key", until="until the watermark has passed it")
        later = "a key to which a row comes later counts as new"
        yield Kept("which keys have come out", job, grows=bool(relation.partition), expired=later)
        return
    if relation.deduplicates and appends:
        what, later = "a row per key", "a key to which a row comes later counts as new"
    else:
        what = "the first rows" if appends else "all rows"
        what += " of each partition" if relation.partition else ""
        later = "rows that come later have places as if the forgotten ones had not been there"
    yield Kept(what, job, grows=bool(relation.partition) or not appends, expired=later)


def _of_over(relation: Any, job: int) -> Iterator[Kept]:
    if relation.time is None:
        later = "rows that come later have results as if the forgotten ones had not been there"
        yield Kept("all rows" + (" of each partition" if relation.partition else ""), job, expired=later)
        return
    if not relation.by_clock:
        yield Kept("rows of which later ones may still come before", until="until the watermark has passed them")
    if relation.frame.preceding is None:
        yield Kept("accumulators" + (" per key" if relation.partition else ""), until="for ever", grows=bool(relation.partition))
    elif relation.frame.by_rows:
        what = f"the last {relation.frame.preceding} rows" + (" per key" if relation.partition else "")
        yield Kept(what, until="for ever", grows=bool(relation.partition))
    else:
        yield Kept("the rows that frames still look back at", until=f"for {shown(relation.frame.preceding)} of event time")


def _of_windows(relation: Any, job: int) -> Iterator[Kept]:
    if relation.window.kind == "SESSION":
        what = "a row of accumulators per key and session"
    else:
        what = "a row of accumulators per key and part of a window"
    yield Kept(what, until="until the windows are over")


def _of_table(relation: Any, job: int) -> Iterator[Kept]:
    if relation.window.kind == "SESSION":
        yield Kept("rows", until="until their session is over")


def _of_temporal_join(relation: Any, job: int) -> Iterator[Kept]:
    yield Kept("rows of the left side", until="until the watermark has passed them")
    yield Kept("versions of the right side", until="until the watermark has passed the next one")


def _of_match(relation: Any, job: int) -> Iterator[Kept]:
    within = relation.within_ms
    until = "for ever" if within is None else f"for {shown(within)} of event time"
    yield Kept("rows of which earlier ones may still come", until="until the watermark has passed them")
    yield Kept("rows that have begun a match", until=until)


def _of_process(relation: Any, job: int) -> Iterator[Kept]:
    if any(table.order for table in relation.tables):
        yield Kept("rows of which earlier ones may still come", until="until the watermark has passed them")
    for state in relation.function.states:
        yield Kept(f"{state.name} of each key", job if state.ttl_ms is None else state.ttl_ms)
    if relation.function.timer_takes_context is not None:
        yield Kept("timers of each key", until="until the watermark has passed them")


_KEPT: dict[str, Callable[[Any, int], Iterator[Kept]]] = {
    "Aggregate": _of_aggregate,
    "TableAggregate": _of_tables,
    "Join": _of_join,
    "TopN": _of_top,
    "OverAggregate": _of_over,
    "WindowAggregate": _of_windows,
    "WindowTable": _of_table,
    "CountWindowAggregate": lambda relation, job: iter([Kept("the rows of each key", until="until their windows are full")]),
    "TemporalJoin": _of_temporal_join,
    "Match": _of_match,
    "ProcessTable": _of_process,
}
