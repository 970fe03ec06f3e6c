"""Pattern streams: the matches of patterns in streams."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from wiesel.cep.compiler import compile_pattern
from wiesel.cep.functions import (
    EventComparator,
    PatternFlatSelectFunction,
    PatternFlatTimeoutFunction,
    PatternProcessFunction,
    PatternSelectFunction,
    PatternTimeoutFunction,
    TimedOutPartialMatchHandler,
)
from wiesel.cep.pattern import Pattern
from wiesel.cep.spec import CepSpec
from wiesel.cep.user_calls import FlatSelect, FlatTimeout, Select, Timeout
from wiesel.core.argument_checks import require_function, require_instance
from wiesel.core.user_location import program_error
from wiesel.datastream import DataStream, KeyedStream
from wiesel.graph.specs import OperatorSpec
from wiesel.spi.functions import NullByteKeySelector
from wiesel.spi.output_tag import OutputTag
from wiesel.types.typeinfo import TypeInformation
from wiesel.types.types import require_type

__all__ = ["CEP", "PatternStream"]


class CEP:
    """Applies patterns to streams."""

    @staticmethod
    def pattern(
        input_stream: DataStream, pattern: Pattern, comparator: EventComparator | Callable[[Any, Any], int] | None = None
    ) -> PatternStream:
        """Apply a pattern to a stream: per key on a keyed stream, otherwise to all events, by one subtask.

        Args:
            input_stream: The events.
            pattern: The last pattern of the sequence.
            comparator: Orders events of the same time; by default the order of arrival.

        Raises:
            MalformedPatternException: If the sequence is invalid.
        """
        require_instance(input_stream, DataStream, "the first argument of CEP.pattern()", "give a stream")
        require_instance(pattern, Pattern, "the second argument of CEP.pattern()", "give the result of Pattern.begin(...)")
        if comparator is not None and not isinstance(comparator, EventComparator):
            require_function(comparator, None, "the comparator of CEP.pattern()", arguments=2)
        return PatternStream(input_stream, pattern, comparator)


class PatternStream:
    """The matches of a pattern, in event time unless :meth:`in_processing_time` is called."""

    def __init__(self, input_stream: DataStream, pattern: Pattern, comparator: EventComparator | Callable[[Any, Any], int] | None) -> None:
        self._input = input_stream
        self._pattern = pattern
        self._automaton = compile_pattern(pattern)
        self._compare = comparator.compare if isinstance(comparator, EventComparator) else comparator
        self._event_time = True
        self._late_tag: OutputTag | None = None

    def in_processing_time(self) -> PatternStream:
        """Return a stream that uses the arrival times of events, not their timestamps."""
        return self._with(_event_time=False)

    def in_event_time(self) -> PatternStream:
        """Return a stream that uses the timestamps of the events, which wait for the watermark."""
        return self._with(_event_time=True)

    def side_output_late_data(self, late_data_output_tag: OutputTag) -> PatternStream:
        """Return a stream that sends late events to a side output of the result, instead of dropping them."""
        require_instance(late_data_output_tag, OutputTag, "the argument of side_output_late_data()", "give an OutputTag('late', type)")
        return self._with(_late_tag=late_data_output_tag)

    def _with(self, **changes: Any) -> PatternStream:
        other = copy.copy(self)
        other.__dict__.update(changes)
        return other

    def process(self, pattern_process_function: PatternProcessFunction, output_type: TypeInformation | None = None) -> DataStream:
        """Return the results of the function for matches.

        If it is a :class:`~wiesel.cep.TimedOutPartialMatchHandler` as well, it also processes timed-out partial matches.
        """
        function = pattern_process_function
        require_function(function, PatternProcessFunction, "process() on patterns", callable_ok=False)
        on_timeout = function.process_timed_out_match if isinstance(function, TimedOutPartialMatchHandler) else None
        return self._evaluate(function, function.process_match, None, on_timeout, output_type, "process()")

    def select(
        self,
        pattern_select_function: Callable[[Any], Any] | PatternSelectFunction,
        output_type: TypeInformation | None = None,
        *,
        timed_out_partial_matches_tag: OutputTag | None = None,
        pattern_timeout_function: Callable[[Any, int], Any] | PatternTimeoutFunction | None = None,
    ) -> DataStream:
        """Return one result per match.

        Args:
            pattern_select_function: Gets a match, returns the result.
            output_type: The type of the results.
            timed_out_partial_matches_tag: The side output for timed-out partial matches.
            pattern_timeout_function: Gets such a partial match and its timeout (ms), returns the result.
        """
        require_function(pattern_select_function, PatternSelectFunction, "select()")
        on_timeout = None
        if self._wants_timeouts(timed_out_partial_matches_tag, pattern_timeout_function, PatternTimeoutFunction, "select()"):
            on_timeout = Timeout(timed_out_partial_matches_tag, pattern_timeout_function)
        on_match = Select(pattern_select_function)
        return self._evaluate(pattern_select_function, on_match, pattern_timeout_function, on_timeout, output_type, "select()")

    def flat_select(
        self,
        pattern_flat_select_function: Callable[[Any], Any] | PatternFlatSelectFunction,
        output_type: TypeInformation | None = None,
        *,
        timed_out_partial_matches_tag: OutputTag | None = None,
        pattern_flat_timeout_function: Callable[[Any, int], Any] | PatternFlatTimeoutFunction | None = None,
    ) -> DataStream:
        """Return any number of results per match.

        Args:
            pattern_flat_select_function: Gets a match, returns or yields the results.
            output_type: The type of the results.
            timed_out_partial_matches_tag: The side output for timed-out partial matches.
            pattern_flat_timeout_function: Gets such a partial match and its timeout (ms), returns or yields the results.
        """
        require_function(pattern_flat_select_function, PatternFlatSelectFunction, "flat_select()")
        on_timeout = None
        if self._wants_timeouts(timed_out_partial_matches_tag, pattern_flat_timeout_function, PatternFlatTimeoutFunction, "flat_select()"):
            on_timeout = FlatTimeout(timed_out_partial_matches_tag, pattern_flat_timeout_function)
        on_match = FlatSelect(pattern_flat_select_function)
        return self._evaluate(
            pattern_flat_select_function, on_match, pattern_flat_timeout_function, on_timeout, output_type, "flat_select()"
        )

    def _wants_timeouts(self, tag: OutputTag | None, function: Any, interface: type, call: str) -> bool:
        if tag is None and function is None:
            return False
        if tag is None or function is None:
            raise program_error(
                f"{call} got {'a timeout function, but no output tag' if tag is None else 'an output tag, but no timeout function'}",
                "give both timed_out_partial_matches_tag and the timeout function, or none",
            )
        require_instance(tag, OutputTag, "timed_out_partial_matches_tag", "give an OutputTag('timed out', type)")
        require_function(function, interface, f"the timeout function of {call}", arguments=2)
        return True

    def _evaluate(
        self, function: Any, on_match: Any, timeout_function: Any, on_timeout: Any, output_type: TypeInformation | None, call: str
    ) -> DataStream:
        declared = require_type(output_type, call)
        stream, keyed = self._input, isinstance(self._input, KeyedStream)
        spec = CepSpec(
            automaton=self._automaton,
            strategy=self._pattern.get_after_match_skip_strategy(),
            function=function,
            on_match=on_match,
            timeout_function=timeout_function,
            on_timeout=on_timeout,
            event_time=self._event_time,
            compare=self._compare,
            late_tag=None if self._late_tag is None else self._late_tag.tag_id,
            input_type=stream.get_type(),
            output_type=declared,
        )
        source = stream if keyed else stream.key_by(NullByteKeySelector())
        result = source._add("CepOperator", OperatorSpec("cep", payload=spec), declared, keyed=True)
        if not keyed:
            # All events have one key: further subtasks would only wait.
            operator = result._operator("CEP.pattern()")
            operator.node.parallelism, operator.node.parallelism_set = 1, True
            operator.non_parallel = True
        names = " ".join(p.get_name() for p in self._pattern._sequence())
        return result.set_description(f"CEP({names}, {'event' if self._event_time else 'processing'} time)")
