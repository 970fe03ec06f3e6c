"""Joins by key and window, and interval joins: operators of Flink's Java API that PyFlink lacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from wiesel.core.argument_checks import require_count, require_function, require_instance
from wiesel.core.durations import to_millis
from wiesel.core.user_location import program_error
from wiesel.datastream._stream import DataStream
from wiesel.datastream.keyed_stream import KeyedStream
from wiesel.datastream.windowed_stream import checked_assigner, checked_trigger
from wiesel.graph.specs import OperatorSpec
from wiesel.spi.functions import KeySelector
from wiesel.spi.joins import CoGroupFunction, FlatJoinFunction, JoinFunction, ProcessJoinFunction
from wiesel.spi.output_tag import OutputTag
from wiesel.spi.windows import Evictor, Trigger, WindowAssigner
from wiesel.types.typeinfo import TypeInformation
from wiesel.types.types import require_type

if TYPE_CHECKING:
    from wiesel.core.durations import DurationLike

__all__ = ["CoGroupedStreams", "IntervalJoin", "IntervalJoined", "JoinedStreams"]

S = TypeVar("S", bound="_WithWindow")
Selector = Callable[[Any], Any] | KeySelector


class _PairedStreams:
    """Base of joins and co-groups: two streams, whose keys are set next."""

    _method: str
    _with_window: type[_WithWindow]

    def __init__(self, input1: DataStream, input2: DataStream) -> None:
        self._input1 = input1
        self._input2 = input2

    def where(self, key_selector: Selector, key_type: TypeInformation | None = None) -> _Where:
        """Set the key of the records of the first stream.

        Args:
            key_selector: Returns the key of a record.
            key_type: The type of the keys.
        """
        return _Where(self, self._input1.key_by(key_selector, key_type))


class _Where:
    """Two streams, the first of them keyed."""

    def __init__(self, streams: _PairedStreams, keyed1: KeyedStream) -> None:
        self._streams = streams
        self._keyed1 = keyed1

    def equal_to(self, key_selector: Selector, key_type: TypeInformation | None = None) -> _EqualTo:
        """Set the key of the records of the second stream, which has to equal that of the first.

        Args:
            key_selector: Returns the key of a record.
            key_type: The type of the keys; that of ``where`` if it is None.

        Raises:
            ProgramError: If the types of the two keys differ.
        """
        first = self._keyed1._key_type
        keyed2 = self._streams._input2.key_by(key_selector, first if key_type is None else key_type)
        if keyed2._key_type != first:
            raise program_error(
                f"the keys of the two streams are of different types: {first} and {keyed2._key_type}",
                "declare the same key_type in where() and equal_to(), and have both selectors return it",
            )
        return _EqualTo(self._streams, self._keyed1, keyed2)


class _EqualTo:
    """Two keyed streams."""

    def __init__(self, streams: _PairedStreams, keyed1: KeyedStream, keyed2: KeyedStream) -> None:
        self._streams = streams
        self._keyed1 = keyed1
        self._keyed2 = keyed2

    def window(self, window_assigner: WindowAssigner[Any, Any]) -> Any:
        """Assign the records of both streams to windows; those of one key and window are joined.

        A custom assigner gets each record as a :class:`~wiesel.spi.joins.TaggedUnion`.
        """
        return self._streams._with_window(self._keyed1, self._keyed2, checked_assigner(window_assigner))


class _WithWindow:
    """Two keyed streams whose records are in windows."""

    _title: str

    def __init__(self, keyed1: KeyedStream, keyed2: KeyedStream, window_assigner: WindowAssigner[Any, Any]) -> None:
        self._keyed1 = keyed1
        self._keyed2 = keyed2
        self._window_assigner = window_assigner
        self._window_trigger: Trigger[Any, Any] | None = None
        self._window_evictor: Evictor[Any, Any] | None = None
        self._allowed_lateness_ms = 0

    def trigger(self: S, trigger: Trigger[Any, Any]) -> S:
        """Set the trigger; a custom trigger gets each record as a :class:`~wiesel.spi.joins.TaggedUnion`."""
        self._window_trigger = checked_trigger(trigger, self._window_assigner)
        return self

    def evictor(self: S, evictor: Evictor[Any, Any]) -> S:
        """Set the evictor of records of both streams; it gets each as a :class:`~wiesel.spi.joins.TaggedUnion`."""
        require_instance(evictor, Evictor, "the argument of evictor()", "e.g. CountEvictor.of(10)")
        self._window_evictor = evictor
        return self

    def allowed_lateness(self: S, time_ms: int) -> S:
        """Set the allowed lateness (ms) after the end of a window; each late record evaluates it again; 0 by default."""
        self._allowed_lateness_ms = require_count(time_ms, "the allowed lateness in ms", minimum=0)
        return self

    def _evaluate(self, function: Any, kind: str, output_type: TypeInformation | None) -> DataStream:
        declared = require_type(output_type, "apply()")
        environment = self._keyed1.get_execution_environment()
        assigner = self._window_assigner
        trigger = self._window_trigger or assigner.get_default_trigger(environment)
        payload = {
            "assigner": assigner,
            "trigger": trigger,
            "evictor": self._window_evictor,
            "allowed_lateness_ms": self._allowed_lateness_ms,
            "function": function,
            "function_kind": kind,
            "output_type": declared,
        }
        inputs = (self._keyed1._transformation, self._keyed2._transformation)
        operator = environment._add_operator(self._title, OperatorSpec("co_group", payload=payload), inputs, declared, keyed=True)
        result = DataStream(environment, operator)
        functions = ", ".join(type(f).__name__ for f in (self._window_evictor, function) if f is not None)
        return result.set_description(f"{self._title}({assigner}, {type(trigger).__name__}, {functions})")


class _JoinWithWindow(_WithWindow):
    """Two keyed streams whose records are in windows, to be joined."""

    _title = "Window Join"

    def apply(
        self,
        function: Callable[[Any, Any], Any] | JoinFunction[Any, Any, Any] | FlatJoinFunction[Any, Any, Any],
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Return the results of the function for each pair of records of the two streams in one key and window.

        Results have the last timestamp of their window.

        Args:
            function: A JoinFunction (or a callable that returns one result or None), or a FlatJoinFunction.
            output_type: The type of the results.
        """
        if isinstance(function, FlatJoinFunction):
            return self._evaluate(function, "flat_join", output_type)
        require_function(function, JoinFunction, "apply() on joined streams", arguments=2)
        return self._evaluate(function, "join", output_type)


class _CoGroupWithWindow(_WithWindow):
    """Two keyed streams whose records are in windows, to be co-grouped."""

    _title = "CoGroup"

    def apply(
        self,
        function: Callable[[list[Any], list[Any]], Any] | CoGroupFunction[Any, Any, Any],
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Return the results of the function for each key and window: with the list of records of each stream, one of which may be empty.

        Results have the last timestamp of their window.

        Args:
            function: A CoGroupFunction, or a callable with two arguments that returns an iterable of results.
            output_type: The type of the results.
        """
        require_function(function, CoGroupFunction, "apply() on co-grouped streams", arguments=2)
        return self._evaluate(function, "co_group", output_type)


class JoinedStreams(_PairedStreams):
    """Two streams to be joined: ``a.join(b).where(key_of_a).equal_to(key_of_b).window(assigner).apply(function)``."""

    _with_window = _JoinWithWindow


class CoGroupedStreams(_PairedStreams):
    """Two streams to be co-grouped: ``a.co_group(b).where(key_of_a).equal_to(key_of_b).window(assigner).apply(function)``."""

    _with_window = _CoGroupWithWindow


class IntervalJoin:
    """Two keyed streams; set the interval next. Created by :meth:`KeyedStream.interval_join`."""

    def __init__(self, left: KeyedStream, right: KeyedStream) -> None:
        self._left = left
        self._right = right

    def between(self, lower_bound: DurationLike, upper_bound: DurationLike) -> IntervalJoined:
        """Join a left record with the right ones with timestamps from ``left + lower_bound`` to ``left + upper_bound``.

        Args:
            lower_bound: Negative for earlier right records, e.g. ``Time.seconds(-5)``. Inclusive by default.
            upper_bound: Negative for earlier right records. Inclusive by default.

        Raises:
            ProgramError: If the lower bound is above the upper one.
        """
        lower, upper = to_millis(lower_bound), to_millis(upper_bound)
        if lower > upper:
            raise program_error(
                f"the lower bound of the interval ({lower} ms) is above the upper one ({upper} ms)",
                "give the earlier bound first, e.g. between(Time.seconds(-5), Time.seconds(5))",
            )
        return IntervalJoined(self._left, self._right, lower, upper)


class IntervalJoined:
    """Two keyed streams and an interval; set the function next."""

    def __init__(self, left: KeyedStream, right: KeyedStream, lower_ms: int, upper_ms: int) -> None:
        self._left = left
        self._right = right
        self._lower_ms = lower_ms
        self._upper_ms = upper_ms
        self._lower_exclusive = self._upper_exclusive = False
        self._left_tag: OutputTag | None = None
        self._right_tag: OutputTag | None = None

    def lower_bound_exclusive(self) -> IntervalJoined:
        """Exclude right records at the lower bound."""
        self._lower_exclusive = True
        return self

    def upper_bound_exclusive(self) -> IntervalJoined:
        """Exclude right records at the upper bound."""
        self._upper_exclusive = True
        return self

    def side_output_left_late_data(self, output_tag: OutputTag) -> IntervalJoined:
        """Send late left records to this side output of the result, instead of dropping them."""
        require_instance(output_tag, OutputTag, "the argument of side_output_left_late_data()", "give an OutputTag('late', type)")
        self._left_tag = output_tag
        return self

    def side_output_right_late_data(self, output_tag: OutputTag) -> IntervalJoined:
        """Send late right records to this side output of the result, instead of dropping them."""
        require_instance(output_tag, OutputTag, "the argument of side_output_right_late_data()", "give an OutputTag('late', type)")
        self._right_tag = output_tag
        return self

    def process(self, process_join_function: ProcessJoinFunction[Any, Any, Any], output_type: TypeInformation | None = None) -> DataStream:
        """Return the results of the function for each pair of records of one key within the interval.

        Results have the later one of the two timestamps.

        Args:
            process_join_function: Gets the pair.
            output_type: The type of the results.

        Raises:
            ProgramError: If the interval is empty.
        """
        require_function(process_join_function, ProcessJoinFunction, "process() of an interval join", callable_ok=False)
        declared = require_type(output_type, "process() of an interval join")
        lower, upper = self._lower_ms + self._lower_exclusive, self._upper_ms - self._upper_exclusive
        if lower > upper:
            raise program_error(
                f"the interval between the bounds {self._lower_ms} ms and {self._upper_ms} ms is empty, as they are exclusive",
                "make the interval longer, or one of the bounds inclusive",
            )
        tags = tuple(None if tag is None else tag.tag_id for tag in (self._left_tag, self._right_tag))
        payload = {"function": process_join_function, "output_type": declared, "late_tags": tags}
        spec = OperatorSpec("interval_join", {"lower": lower, "upper": upper}, payload)
        environment = self._left.get_execution_environment()
        inputs = (self._left._transformation, self._right._transformation)
        return DataStream(environment, environment._add_operator("Interval Join", spec, inputs, declared, keyed=True))
