"""Windowed streams, keyed or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from wiesel.core import options
from wiesel.core.argument_checks import require_count, require_function, require_instance
from wiesel.core.errors import ArgumentTypeError
from wiesel.core.user_location import program_error
from wiesel.datastream._stream import DataStream
from wiesel.datastream.keyed_stream import KeyedStream
from wiesel.graph.specs import OperatorSpec
from wiesel.runtime.windows.shared import cannot_share
from wiesel.runtime.windows.spec import WindowSpec
from wiesel.spi.functions import (
    AggregateFunction,
    AllWindowFunction,
    NullByteKeySelector,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    ReduceFunction,
    WindowFunction,
)
from wiesel.spi.output_tag import OutputTag
from wiesel.spi.windows import Evictor, MergingWindowAssigner, Trigger, WindowAssigner
from wiesel.types.typeinfo import TypeInformation
from wiesel.types.types import require_type

if TYPE_CHECKING:
    from wiesel.datastream.stream_execution_environment import StreamExecutionEnvironment

__all__ = ["AllWindowedStream", "WindowedStream"]

S = TypeVar("S", bound="_Windowed")


def checked_assigner(window_assigner: Any) -> WindowAssigner[Any, Any]:
    """Return the argument of ``window()``.

    Raises:
        ProgramError: It is no window assigner.
    """
    if isinstance(window_assigner, type):
        hint = f"e.g. {window_assigner.__name__}.of(...)"
        raise program_error(f"window() got the class {window_assigner.__name__} instead of an assigner", hint, ArgumentTypeError)
    require_instance(window_assigner, WindowAssigner, "the argument of window()", "e.g. TumblingEventTimeWindows.of(Time.seconds(5))")
    return window_assigner  # type: ignore[no-any-return]


def checked_trigger(trigger: Any, window_assigner: WindowAssigner[Any, Any]) -> Trigger[Any, Any]:
    """Return the argument of ``trigger()``.

    Raises:
        ProgramError: It is no trigger, or one that cannot follow the assigner's windows.
    """
    require_instance(trigger, Trigger, "the argument of trigger()", "e.g. CountTrigger.of(10)")
    if isinstance(window_assigner, MergingWindowAssigner) and not trigger.can_merge():
        raise program_error(
            f"{type(trigger).__name__} cannot follow windows that merge, such as those of {type(window_assigner).__name__}",
            "use a trigger whose can_merge() returns True and which implements on_merge()",
            ArgumentTypeError,
        )
    return trigger  # type: ignore[no-any-return]


class _Windowed:
    """Base of keyed and non-keyed windows."""

    _title: str
    _all: bool
    _apply_interface: type
    _process_interface: type

    def __init__(self, keyed_stream: KeyedStream, window_assigner: WindowAssigner[Any, Any]) -> None:
        self._keyed_stream = keyed_stream
        self._window_assigner = checked_assigner(window_assigner)
        self._allowed_lateness_ms = 0
        self._late_data_output_tag: OutputTag | None = None
        self._window_trigger: Trigger[Any, Any] | None = None
        self._window_evictor: Evictor[Any, Any] | None = None
        self._share_slices: bool | None = None

    def get_execution_environment(self) -> StreamExecutionEnvironment:
        """Return the environment of the stream."""
        return self._keyed_stream.get_execution_environment()

    def get_input_type(self) -> TypeInformation:
        """Return the declared type of the records."""
        return self._keyed_stream.get_type()

    def trigger(self: S, trigger: Trigger[Any, Any]) -> S:
        """Set when windows are evaluated; each assigner has a default trigger."""
        self._window_trigger = checked_trigger(trigger, self._window_assigner)
        return self

    def evictor(self: S, evictor: Evictor[Any, Any]) -> S:
        """Set the evictor, which removes elements before or after the evaluation; windows then store all their elements."""
        require_instance(evictor, Evictor, "the argument of evictor()", "e.g. CountEvictor.of(10)")
        self._window_evictor = evictor
        return self

    def allowed_lateness(self: S, time_ms: int) -> S:
        """Set the allowed lateness (ms) after the end of a window; each late record evaluates it again; 0 by default."""
        self._allowed_lateness_ms = require_count(time_ms, "the allowed lateness in ms", minimum=0)
        return self

    def side_output_late_data(self: S, output_tag: OutputTag) -> S:
        """Send late records to this side output of the result, instead of dropping them."""
        require_instance(output_tag, OutputTag, "the argument of side_output_late_data()", "give an OutputTag('late', type)")
        self._late_data_output_tag = output_tag
        return self

    def share_slices(self: S, enabled: bool = True) -> S:
        """Let sliding time windows share slices, so that the cost of a record does not depend on their number.

        Each record is added once, to a slice of time, and windows are combined from slices. So the reduce function, or ``merge`` of the
        aggregate function, combines partial aggregates, in the order of time: the result must not depend on the order and grouping of
        records (sums of floats may differ in the last digits). Without this call, ``wiesel.windows.share-slices`` applies.

        Args:
            enabled: False for separate windows, whatever the option.
        """
        require_instance(enabled, bool, "the argument of share_slices()", "give True or False, or nothing")
        self._share_slices = enabled
        return self

    # Evaluations; the public methods with their narrower types are in the two classes below.

    def _reduce(self, function: Any, window_function: Any, output_type: TypeInformation | None) -> DataStream:
        require_function(function, ReduceFunction, "reduce()", arguments=2)
        kind = self._window_function_kind(window_function)
        # Without a window function the results are reduced records, and have their type.
        declared = self.get_input_type() if window_function is None and output_type is None else require_type(output_type, "reduce()")
        return self._evaluate(function, "reduce", window_function, kind, declared)

    def _aggregate(
        self, function: Any, window_function: Any, accumulator_type: TypeInformation | None, output_type: TypeInformation | None
    ) -> DataStream:
        require_function(function, AggregateFunction, "aggregate()", callable_ok=False)
        kind = self._window_function_kind(window_function)
        accumulator = require_type(accumulator_type, "aggregate()")
        return self._evaluate(function, "aggregate", window_function, kind, require_type(output_type, "aggregate()"), accumulator)

    def _whole(self, function: Any, kind: str, output_type: TypeInformation | None) -> DataStream:
        interface = self._apply_interface if kind == "apply" else self._process_interface
        require_function(function, interface, f"{kind}() on windows", callable_ok=False)
        return self._evaluate(None, None, function, kind, require_type(output_type, f"{kind}()"))

    def _window_function_kind(self, function: Any) -> str:
        if function is None:
            return "pass_through"
        if isinstance(function, self._process_interface):
            return "process"
        require_function(function, self._apply_interface, "the window_function", callable_ok=False)
        return "apply"

    def _evaluate(
        self,
        incremental: Any,
        incremental_kind: str | None,
        function: Any,
        function_kind: str,
        output_type: TypeInformation,
        accumulator_type: TypeInformation | None = None,
    ) -> DataStream:
        assigner = self._window_assigner
        trigger = self._window_trigger or assigner.get_default_trigger(self.get_execution_environment())
        tag = self._late_data_output_tag
        payload = {
            "assigner": assigner,
            "trigger": trigger,
            "evictor": self._window_evictor,
            "allowed_lateness_ms": self._allowed_lateness_ms,
            "late_tag": None if tag is None else tag.tag_id,
            "function": function,
            "function_kind": function_kind,
            "incremental": incremental,
            "incremental_kind": incremental_kind,
            "accumulator_type": accumulator_type,
            "all": self._all,
            "input_type": self.get_input_type(),
            "output_type": output_type,
        }
        payload["share_slices"] = self._shares_slices(payload)
        result = self._keyed_stream._add(type(assigner).__name__, OperatorSpec("window", payload=payload), output_type, keyed=True)
        functions = ", ".join(type(f).__name__ for f in (self._window_evictor, incremental, function) if f is not None)
        cut = ", shared slices" if payload["share_slices"] else ""
        return result.set_description(f"{self._title}({assigner}, {type(trigger).__name__}, {functions}{cut})")

    def _shares_slices(self, payload: dict[str, Any]) -> bool:
        if self._share_slices is False:
            return False
        reason = cannot_share(WindowSpec.of(payload))
        if self._share_slices and reason is not None:
            raise program_error(f"share_slices(): {reason[0]}", reason[1])
        return reason is None and (self._share_slices is True or self._keyed_stream._environment._config.get(options.SHARE_SLICES))


class WindowedStream(_Windowed):
    """A keyed stream whose records are assigned to windows; their evaluation results in a stream."""

    _title = "Window"
    _all = False
    _apply_interface = WindowFunction
    _process_interface = ProcessWindowFunction

    def reduce(
        self,
        reduce_function: Callable[[Any, Any], Any] | ReduceFunction,
        window_function: WindowFunction[Any, Any, Any, Any] | ProcessWindowFunction[Any, Any, Any, Any] | None = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Return the incremental reduction of each window's records; only its value is stored.

        Args:
            reduce_function: Combines two records into one.
            window_function: Converts the value, with the key and the window, to results.
            output_type: The type of the results; that of the records if there is no window function.
        """
        return self._reduce(reduce_function, window_function, output_type)

    def aggregate(
        self,
        aggregate_function: AggregateFunction,
        window_function: WindowFunction[Any, Any, Any, Any] | ProcessWindowFunction[Any, Any, Any, Any] | None = None,
        accumulator_type: TypeInformation | None = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Return the incremental aggregate of each window's records; only the accumulator is stored.

        Args:
            aggregate_function: Adds records to an accumulator and returns its result.
            window_function: Converts that result, with the key and the window, to results.
            accumulator_type: The type of the accumulator.
            output_type: The type of the results.
        """
        return self._aggregate(aggregate_function, window_function, accumulator_type, output_type)

    def apply(self, window_function: WindowFunction[Any, Any, Any, Any], output_type: TypeInformation | None = None) -> DataStream:
        """Return the results of the function for all records of a window, which are stored until its evaluation."""
        return self._whole(window_function, "apply", output_type)

    def process(
        self, process_window_function: ProcessWindowFunction[Any, Any, Any, Any], output_type: TypeInformation | None = None
    ) -> DataStream:
        """Return the results of the function for all records of a window; it also has the window's metadata and state."""
        return self._whole(process_window_function, "process", output_type)


class AllWindowedStream(_Windowed):
    """A stream whose records, of all keys, are assigned to windows; evaluated by one subtask."""

    _title = "AllWindow"
    _all = True
    _apply_interface = AllWindowFunction
    _process_interface = ProcessAllWindowFunction

    def __init__(self, data_stream: DataStream, window_assigner: WindowAssigner[Any, Any]) -> None:
        super().__init__(data_stream.key_by(NullByteKeySelector()), window_assigner)

    def reduce(
        self,
        reduce_function: Callable[[Any, Any], Any] | ReduceFunction,
        window_function: AllWindowFunction[Any, Any, Any] | ProcessAllWindowFunction[Any, Any, Any] | None = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Return the incremental reduction of each window's records. See :meth:`WindowedStream.reduce`."""
        return self._reduce(reduce_function, window_function, output_type)

    def aggregate(
        self,
        aggregate_function: AggregateFunction,
        window_function: AllWindowFunction[Any, Any, Any] | ProcessAllWindowFunction[Any, Any, Any] | None = None,
        accumulator_type: TypeInformation | None = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Return the incremental aggregate of each window's records. See :meth:`WindowedStream.aggregate`."""
        return self._aggregate(aggregate_function, window_function, accumulator_type, output_type)

    def apply(self, window_function: AllWindowFunction[Any, Any, Any], output_type: TypeInformation | None = None) -> DataStream:
        """Return the results of the function for all records of a window."""
        return self._whole(window_function, "apply", output_type)

    def process(
        self, process_window_function: ProcessAllWindowFunction[Any, Any, Any], output_type: TypeInformation | None = None
    ) -> DataStream:
        """Return the results of the function for all records of a window; it also has the window's metadata and state."""
        return self._whole(process_window_function, "process", output_type)

    def _evaluate(self, *args: Any, **kwargs: Any) -> DataStream:
        # All records have one key: further subtasks would only wait.
        result = super()._evaluate(*args, **kwargs)
        operator = result._operator("window_all()")
        operator.node.parallelism, operator.node.parallelism_set = 1, True
        operator.non_parallel = True
        return result
