"""State created from data: records, their key, and the function that writes them to state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

import pandas as pd
import pyarrow as pa

from wiesel.core.argument_checks import describe, require_count, require_instance
from wiesel.core.config import Configuration
from wiesel.core.user_location import program_error, user_location
from wiesel.datastream import DataStream, KeyedStream, ProcessFunction, StreamExecutionEnvironment
from wiesel.datastream.windowed_stream import WindowedStream
from wiesel.graph.specs import OperatorSpec
from wiesel.graph.transformations import PartitionTransformation
from wiesel.spi.functions import KeySelector
from wiesel.spi.watermark import TimestampAssigner
from wiesel.spi.windows.assigner import WindowAssigner
from wiesel.spi.windows.evictor import Evictor
from wiesel.spi.windows.trigger import Trigger
from wiesel.state_processor.functions import BroadcastStateBootstrapFunction, KeyedStateBootstrapFunction, StateBootstrapFunction
from wiesel.types.row import make_row
from wiesel.types.typeinfo import TypeInformation

__all__ = ["OperatorTransformation", "StateBootstrapTransformation"]

_ROWS_AT_ONCE = 8192
_TABLES = (pa.Table, pa.RecordBatch, pa.RecordBatchReader)


@dataclass(frozen=True)
class StateBootstrapTransformation:
    """State of one operator to be created by ``SavepointWriter.write``."""

    records: Callable[[], Iterator[tuple[Any, int | None]]]
    """Returns the records with their timestamps."""
    spec: OperatorSpec
    key_selector: Any
    name: str
    location: str
    max_parallelism: int | None = None
    one_subtask: bool = False
    key_type: TypeInformation | None = None

    def set_max_parallelism(self, max_parallelism: int) -> StateBootstrapTransformation:
        """Return the transformation with its own number of key groups: that of the operator in the job."""
        require_count(max_parallelism, "max_parallelism")
        return replace(self, max_parallelism=max_parallelism)


class OperatorTransformation:
    """Entry point for creating state: :meth:`bootstrap_with`."""

    @staticmethod
    def bootstrap_with(data: Any, type_info: TypeInformation | None = None) -> OneInputStateTransformation:
        """Return the start of a chain of calls that describes an operator's state.

        Args:
            data: The records: an iterable (iterated once per ``write``), an Arrow table or reader, a pandas DataFrame, a Spark DataFrame
                (its rows become ``Row``), or a ``DataStream`` of a bounded program, which runs at ``write``.
            type_info: Type of the records, if the state contains it: for window contents and ``reduce``.
        """
        if isinstance(data, (str, bytes)) or not (isinstance(data, (Iterable, DataStream, *_TABLES)) or hasattr(data, "toArrow")):
            raise program_error(f"state cannot be made of {describe(data)}", "give an iterable of records, a table or a DataStream")
        return OneInputStateTransformation(data, type_info, None, user_location())


class OneInputStateTransformation:
    """Records that are to become state."""

    def __init__(self, data: Any, type_info: TypeInformation | None, assigner: Any, location: str) -> None:
        self._data = data
        self._type_info = type_info
        self._assigner = assigner
        self._location = location

    def assign_timestamps(self, assigner: TimestampAssigner | Callable[[Any], int]) -> OneInputStateTransformation:
        """Return the same records with event times.

        Args:
            assigner: A ``TimestampAssigner``, or a callable that returns the time (ms) of a record.
        """
        if isinstance(assigner, TimestampAssigner):
            extract = assigner.extract_timestamp
            return OneInputStateTransformation(self._data, self._type_info, lambda record: extract(record, -(2**63)), self._location)
        if not callable(assigner):
            raise program_error(f"a callable or TimestampAssigner is needed, got {describe(assigner)}", "e.g. lambda record: record.time")
        return OneInputStateTransformation(self._data, self._type_info, assigner, self._location)

    def key_by(self, key_selector: Callable[[Any], Any] | KeySelector, key_type: TypeInformation | None = None) -> KeyedStateTransformation:
        """Return the records by key; use the selector and type of the program."""
        env = StreamExecutionEnvironment(Configuration())
        stream = env.from_collection([], self._type_info).key_by(key_selector, key_type)
        return KeyedStateTransformation(self, env, stream)

    def transform(self, function: StateBootstrapFunction[Any] | BroadcastStateBootstrapFunction[Any]) -> StateBootstrapTransformation:
        """Return the operator state (or broadcast state) that a function creates from the records."""
        wanted = "pass a StateBootstrapFunction or BroadcastStateBootstrapFunction; for keyed state call key_by() first"
        require_instance(function, (StateBootstrapFunction, BroadcastStateBootstrapFunction), "the function of transform()", wanted)
        broadcast = isinstance(function, BroadcastStateBootstrapFunction)
        made = _ForBroadcast(function) if isinstance(function, BroadcastStateBootstrapFunction) else function
        spec = OperatorSpec("process", payload={"function": made})
        name = type(function).__name__
        return StateBootstrapTransformation(self.records, spec, None, name, self._location, one_subtask=broadcast)

    def records(self) -> Iterator[tuple[Any, int | None]]:
        """Go through the records and their timestamps."""
        data, assigner = self._data, self._assigner
        if isinstance(data, DataStream):
            pairs: Iterable[tuple[Any, int | None]] = data.process(_WithTimestamp()).execute_and_collect("bootstrap state")
        else:
            pairs = ((record, None) for record in _records(data))
        declared = self._type_info
        coerce = None if declared is None else declared.compile_coercer()
        for record, timestamp in pairs:
            value = record if coerce is None else coerce(record)
            yield value, timestamp if assigner is None else assigner(value)


class KeyedStateTransformation:
    """Records by key that are to become state."""

    def __init__(self, source: OneInputStateTransformation, env: StreamExecutionEnvironment, stream: KeyedStream) -> None:
        self._source = source
        self._env = env
        self._stream = stream

    def transform(self, function: KeyedStateBootstrapFunction[Any, Any]) -> StateBootstrapTransformation:
        """Return the keyed state and timers that a function creates from the records."""
        require_instance(function, KeyedStateBootstrapFunction, "the function of transform()", "pass a KeyedStateBootstrapFunction(...)")
        return self._made(OperatorSpec("keyed_process", payload={"function": function}), type(function).__name__)

    def reduce(self, function: Any) -> StateBootstrapTransformation:
        """Return the state that ``reduce`` on a keyed stream has after these records."""
        return self._operator(self._stream.reduce(function))

    def window(self, window_assigner: WindowAssigner[Any, Any]) -> WindowedStateTransformation:
        """Return the records by key and window."""
        return WindowedStateTransformation(self, self._stream.window(window_assigner))

    def _operator(self, result: DataStream) -> StateBootstrapTransformation:
        nodes = [node for node in self._env._generate_stream_graph().nodes.values() if not node.is_source]
        return self._made(nodes[-1].operator, result.get_name())

    def _made(self, spec: OperatorSpec, name: str) -> StateBootstrapTransformation:
        keys = cast("PartitionTransformation", self._stream._transformation).partitioner
        return StateBootstrapTransformation(
            self._source.records, spec, keys.payload, name, self._source._location, key_type=keys.key_type
        )


class WindowedStateTransformation:
    """Records by key and window. The methods are those of the program, and create the state of its window operator."""

    def __init__(self, keyed: KeyedStateTransformation, stream: WindowedStream) -> None:
        self._keyed = keyed
        self._stream = stream

    def trigger(self, trigger: Trigger[Any, Any]) -> WindowedStateTransformation:
        """Set the trigger. It is called for each record; windows that it fires are dropped, and windows that it purges are removed."""
        return WindowedStateTransformation(self._keyed, self._stream.trigger(trigger))

    def evictor(self, evictor: Evictor[Any, Any]) -> WindowedStateTransformation:
        """Set the evictor; with one, windows store elements with their timestamps."""
        return WindowedStateTransformation(self._keyed, self._stream.evictor(evictor))

    def allowed_lateness(self, time_ms: int) -> WindowedStateTransformation:
        """Set the allowed lateness, which decides when windows are dropped."""
        return WindowedStateTransformation(self._keyed, self._stream.allowed_lateness(time_ms))

    def reduce(self, *args: Any, **kwargs: Any) -> StateBootstrapTransformation:
        """Set the arguments of ``WindowedStream.reduce``."""
        return self._keyed._operator(self._stream.reduce(*args, **kwargs))

    def aggregate(self, *args: Any, **kwargs: Any) -> StateBootstrapTransformation:
        """Set the arguments of ``WindowedStream.aggregate``."""
        return self._keyed._operator(self._stream.aggregate(*args, **kwargs))

    def apply(self, *args: Any, **kwargs: Any) -> StateBootstrapTransformation:
        """Set the arguments of ``WindowedStream.apply``."""
        return self._keyed._operator(self._stream.apply(*args, **kwargs))

    def process(self, *args: Any, **kwargs: Any) -> StateBootstrapTransformation:
        """Set the arguments of ``WindowedStream.process``."""
        return self._keyed._operator(self._stream.process(*args, **kwargs))


class _WithTimestamp(ProcessFunction):
    """Append the timestamp to a record; without a timestamp, the smallest 64-bit integer."""

    def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Iterator[Any]:
        timestamp = ctx.timestamp()
        yield value, None if timestamp == -(2**63) else timestamp


class _ForBroadcast(StateBootstrapFunction[Any]):
    """Adapter that gives a function its expected context."""

    def __init__(self, function: BroadcastStateBootstrapFunction[Any]) -> None:
        self._function = function

    def open(self, runtime_context: Any) -> None:
        self._function.open(runtime_context)

    def close(self) -> None:
        self._function.close()

    def initialize_state(self, context: Any) -> None:
        self._function.initialize_state(context)

    def snapshot_state(self, context: Any) -> None:
        self._function.snapshot_state(context)

    def process_element(self, value: Any, ctx: Any) -> None:
        self._function.process_element(value, self._function._context)


def _records(data: Any) -> Iterator[Any]:
    if isinstance(data, pd.DataFrame):
        data = pa.Table.from_pandas(data, preserve_index=False)
    elif hasattr(data, "toArrow"):
        data = data.toArrow()
    if isinstance(data, pa.Table):
        yield from _rows(data.to_batches(max_chunksize=_ROWS_AT_ONCE))
    elif isinstance(data, pa.RecordBatch):
        yield from _rows([data])
    elif isinstance(data, pa.RecordBatchReader):
        yield from _rows(data)
    else:
        yield from data


def _rows(batches: Iterable[Any]) -> Iterator[Any]:
    for batch in batches:
        names = list(batch.schema.names)
        columns = [column.to_pylist() for column in batch.columns]
        for values in zip(*columns, strict=True):
            yield make_row(names, list(values))
