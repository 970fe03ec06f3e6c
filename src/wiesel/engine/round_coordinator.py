"""Internal. The coordinator of an iteration in rounds: relays the feedback, and decides after each round whether another follows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any

from wiesel.core.errors import ProgramError
from wiesel.runtime.feedback.messages import Feedback, FeedbackTaken, LastRound, NextRound, RoundDone, RoundsSoFar, RoundSummary

__all__ = ["RoundCoordinator"]


class RoundCoordinator:
    """One iteration in one attempt.

    Args:
        parallelism: Number of heads, and of tails.
        max_rounds: Maximal number of rounds, or None.
        aggregator: Aggregates the criterion's records, or None.
        converged: Returns for a round's number and aggregate whether it was the last one; or None.
        location: Location of the iteration in the program.
        tells_value: Send the aggregate of a round to heads before the next one.
    """

    def __init__(
        self,
        parallelism: int,
        max_rounds: int | None,
        aggregator: Any,
        converged: Callable[[int, Any], bool] | None,
        location: str,
        *,
        tells_value: bool = False,
    ) -> None:
        self._tells_value = tells_value
        self._subtasks = range(parallelism)
        self._max_rounds = max_rounds
        self._aggregator = aggregator
        self._converged = converged
        self._location = location
        self._done: dict[int, RoundDone] = {}
        self._last_told = False
        self.summaries: list[RoundSummary] = []

    def on_event(self, role: str, subtask: int, event: Any) -> Iterable[tuple[str, int, Any]]:
        """See ``OperatorCoordinator``."""
        if isinstance(event, Feedback):
            return [("head", subtask, event)]
        if isinstance(event, FeedbackTaken):
            return [("tail", subtask, event)]
        if isinstance(event, RoundsSoFar):
            self.summaries = max(self.summaries, list(event.summaries), key=len)
            return self._last_round(event.summaries[-1]) if event.last else []
        self._done[subtask] = event
        return self._decide() if len(self._done) == len(self._subtasks) else []

    def _decide(self) -> list[tuple[str, int, Any]]:
        done, self._done = self._done, {}
        number = done[0].round
        records = sum(d.records for d in done.values())
        try:
            value = self._aggregate([d.accumulator for d in done.values() if d.accumulator is not None])
            converged = self._converged is not None and bool(self._converged(number, value))
        except Exception as error:
            raise ProgramError(
                f"the convergence criterion of the iteration at {self._location} raised after round {number}: "
                f"{type(error).__name__}: {error}",
                hint="correct the aggregator or the function given as converged",
            ) from error
        summary = RoundSummary(number, records, value)
        self.summaries.append(summary)
        if converged or number == self._max_rounds or not records:
            return self._last_round(summary)
        # Heads are notified first: feedback of tails follows it.
        roles = ("head", "tail") if self._tells_value else ("tail",)
        return [(role, i, NextRound(summary)) for role in roles for i in self._subtasks]

    def _aggregate(self, accumulators: list[Any]) -> Any:
        if self._aggregator is None:
            return None
        return self._aggregator.get_result(reduce(self._aggregator.merge, accumulators or [self._aggregator.create_accumulator()]))

    def _last_round(self, summary: RoundSummary) -> list[tuple[str, int, Any]]:
        if self._last_told:
            return []
        self._last_told = True
        return [(role, i, LastRound(summary)) for i in self._subtasks for role in ("tail", "head")]
