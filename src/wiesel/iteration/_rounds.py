"""Internal. Rounds as windows in programs, and as results of the job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wiesel.common import Time
from wiesel.common.job_execution_result import JobExecutionResult
from wiesel.core.user_location import program_error
from wiesel.datastream.window import TumblingEventTimeWindows

__all__ = ["Round", "each_round", "rounds_of"]


@dataclass(frozen=True)
class Round:
    """Information on one round.

    Attributes:
        round: Its number, from 1.
        records: Number of records for the next round, or in the result.
        value: Result of the aggregator over the criterion's records; None without one.
    """

    round: int
    records: int
    value: Any


def each_round() -> TumblingEventTimeWindows[Any]:
    """Return the windows of the rounds, for ``window`` and ``window_all`` inside a step: one for each round."""
    return TumblingEventTimeWindows.of(Time.milliseconds(1))


def rounds_of(result: JobExecutionResult | Mapping[str, Any], name: str | None = None) -> list[Round]:
    """Return the rounds of an iteration of a job.

    Args:
        result: The result of ``execute()``; or, while the job runs, of ``JobClient.get_accumulators().result()``.
        name: The name of the iteration; optional if the job has only one. A second one of the same name is ``<name> 2``.
    """
    metrics = result.metrics if isinstance(result, JobExecutionResult) else result
    iterations: Mapping[str, list[dict[str, Any]]] = metrics.get("iterations", {})
    if name is None and len(iterations) == 1:
        name = next(iter(iterations))
    if name is None or name not in iterations:
        known = ", ".join(map(repr, sorted(iterations))) or "none"
        raise program_error(f"the job has no iteration in rounds of the name {name!r}; it has {known}", "give one of these names")
    return [Round(**each) for each in iterations[name]]
