"""Internal. Emits results of matches by the user's functions."""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

from wiesel.cep.functions import Match, PatternProcessFunction
from wiesel.runtime.isolation import isolated
from wiesel.runtime.operators.function_operator import object_reuse
from wiesel.runtime.user_code import raise_failure

if TYPE_CHECKING:
    from wiesel.cep.spec import CepSpec
    from wiesel.runtime.operator import OperatorContext
    from wiesel.runtime.results import ResultCollector
    from wiesel.runtime.user_code import UserCode

__all__ = ["PatternResults"]


class _Context(PatternProcessFunction.Context):
    """The context of the user's function; one object for all matches."""

    def __init__(self, clock: Callable[[], int]) -> None:
        self._clock = clock
        self.time = 0

    def timestamp(self) -> int:
        return self.time

    def current_processing_time(self) -> int:
        return self._clock()


class _FailedMatch(NamedTuple):
    """Replaces the record in error messages of matches."""

    match: Match
    timestamp: int


class PatternResults:
    """Calls the functions and collects their results."""

    def __init__(self, spec: CepSpec, context: OperatorContext, guard: UserCode, collector: ResultCollector) -> None:
        self._spec = spec
        self._guard = guard
        self._collector = collector
        self._context = _Context(context.clock.now_ms)
        self._settle: Callable[[Any], Any] | None = None if object_reuse(context) else isolated
        self._values: list[Any] = []
        self._times: list[Any] = []

    def add_matches(self, matches: list[Match], time: int) -> None:
        """Add the results for matches that were complete at ``time``."""
        for match in matches:
            self._call(self._spec.on_match, match, time)

    def add_timed_out(self, timed_out: list[tuple[Match, int]]) -> None:
        """Add the results for timed-out partial matches, each with its timeout."""
        if self._spec.on_timeout is not None:
            for match, time in timed_out:
                self._call(self._spec.on_timeout, match, time)

    def _call(self, function: Callable[[Match, PatternProcessFunction.Context], Any], match: Match, time: int) -> None:
        self._context.time = time
        values = self._values
        error: Exception | None = None
        try:
            produced = function(match, self._context)
            if produced is not None:
                values.extend(produced if self._settle is None else map(self._settle, produced))
        except Exception as raised:  # noqa: BLE001 - whatever a user's function raises is about this match
            error = raised
        self._times.extend(repeat(time, len(values) - len(self._times)))
        if error is not None:
            failure = self._guard.failed(error, _FailedMatch(match, time), time if self._spec.event_time else None)
            if failure is not None:
                raise_failure(failure, error)

    def flush(self) -> None:
        """Emit the collected results."""
        values, times = self._values, self._times
        self._values, self._times = [], []
        self._collector.emit(values, times if self._spec.event_time else None)
