"""Internal. Delta iterations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from wiesel.core.argument_checks import require_instance
from wiesel.core.ids import MAX_TIMESTAMP
from wiesel.core.user_location import program_error
from wiesel.datastream import DataStream, KeyedCoProcessFunction, OutputTag
from wiesel.datastream.state import ListStateDescriptor, ValueStateDescriptor
from wiesel.iteration._bulk import Converged, make_head, make_tail

__all__ = ["iterate_delta"]

_SOLUTION = OutputTag("wiesel-solution-set")


class _SolutionSet(KeyedCoProcessFunction):
    """Stores the solution of each key, updates it at the end of each round with candidates, and emits it at the end."""

    def __init__(self, update: Callable[[Any, list[Any]], Any]) -> None:
        self._update = update

    def open(self, runtime_context: Any) -> None:
        """Get the states."""
        self._solution = runtime_context.get_state(ValueStateDescriptor("solution"))
        self._candidates = runtime_context.get_list_state(ListStateDescriptor("candidates"))

    def process_element1(self, value: Any, ctx: Any) -> None:
        """Add a record of the initial solution set."""
        self._solution.update(value)
        ctx.timer_service().register_event_time_timer(MAX_TIMESTAMP)

    def process_element2(self, value: Any, ctx: Any) -> None:
        """Add a candidate."""
        self._candidates.add(value)
        ctx.timer_service().register_event_time_timer(ctx.timestamp())

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        """Update the solution, or emit it."""
        if timestamp == MAX_TIMESTAMP:
            yield _SOLUTION, self._solution.value()
            return
        candidates = list(self._candidates.get())
        self._candidates.clear()
        changed = self._update(self._solution.value(), candidates)
        if changed is not None:
            self._solution.update(changed)
            ctx.timer_service().register_event_time_timer(MAX_TIMESTAMP)
            yield changed


def iterate_delta(
    initial_solution: DataStream,
    initial_workset: DataStream,
    key: Callable[[Any], Any],
    step: Callable[[DataStream], DataStream],
    update: Callable[[Any, list[Any]], Any],
    *,
    max_rounds: int | None = None,
    converged: Converged | None = None,
    name: str = "Delta Iteration",
) -> DataStream:
    """Return the final solution set.

    Each round starts from the changes of the previous round: the workset. The iteration ends after a round without changes, after
    ``max_rounds`` rounds, or when ``converged`` returns true.

    Args:
        initial_solution: The initial solution set, at most one record for each key; a bounded stream.
        initial_workset: The workset of round 1; a bounded stream.
        key: Returns the key of a record of the solution set, and of a candidate.
        step: Gets the stream of worksets and returns the stream of candidates: records that may change the solution. It is called once,
            when the job is built.
        update: Gets the record of a key in the solution set (None if there is none) and all candidates of a round for it; returns the new
            record, or None for no change. Its result is in the next workset.
        max_rounds: Maximal number of rounds.
        converged: Called after each round, in the process of the JobMaster, with the round's number and None.
        name: Name of the iteration.
    """
    require_instance(initial_solution, DataStream, "the initial solution set", "give a stream")
    for given, what in ((key, "key"), (step, "step"), (update, "update")):
        if not callable(given):
            raise program_error(f"{what} must be a function, got {given!r:.100}", "see the documentation of iterate_delta")
    head = make_head(initial_workset, max_rounds, None, converged, name)
    candidates = step(DataStream(initial_workset.get_execution_environment(), head))
    require_instance(candidates, DataStream, "what the step returned", "return the stream of candidates")
    changes = initial_solution.connect(candidates).key_by(key, key).process(_SolutionSet(update)).name(f"{name}: Solution Set")
    make_tail(head, changes, None, None, emits_result=False)
    return changes.get_side_output(_SOLUTION)
