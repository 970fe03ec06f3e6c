"""Internal. Simple functions on keyed streams: map, flat_map, filter (which may use keyed state) and the rolling reduce."""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from operator import length_hint
from typing import Any

from wiesel.core.errors import WieselError, invariant
from wiesel.core.ids import MAX_TIMESTAMP
from wiesel.runtime.isolation import ATOMIC, isolated
from wiesel.runtime.operator import StreamOperator
from wiesel.runtime.operators.function_operator import FunctionOperator, object_reuse
from wiesel.runtime.operators.stateless import FilterOperator, FlatMapOperator, MapOperator
from wiesel.runtime.results import ProcessLoop
from wiesel.runtime.user_code import raise_failure
from wiesel.spi.checkpointed import CheckpointedFunction
from wiesel.spi.functions import Function, user_callable
from wiesel.state.key_context import NO_KEY, KeyContext
from wiesel.wire.batch import Batch

__all__ = ["keyed_filter_operator", "keyed_flat_map_operator", "keyed_map_operator", "keyed_reduce_operator"]

REDUCE_STATE = "_reduce_state"
_FINAL_RESULTS = 1_000
"""Number of results of complete keys emitted together."""


class _NoContext:
    """Simple functions have no context; the loop still sets the timestamp."""

    __slots__ = ("current_timestamp",)

    def __init__(self) -> None:
        self.current_timestamp: int | None = None


class SimpleKeyedOperator(FunctionOperator):
    """Runs a simple function with keyed state: the key is set before each call."""

    key_context: KeyContext
    ends_keys = True

    def __init__(self, function: Any, output_type: Any, process: Callable[[Any, Any], Any], *, passes_input: bool = False) -> None:
        super().__init__(function, output_type)
        self._process = process
        self._passes_input = passes_input

    def open(self) -> None:
        """Open the function."""
        self.key_context = KeyContext()
        super().open()
        reuse = self._passes_input or object_reuse(self.context)
        self._loop = ProcessLoop(_NoContext(), self.key_context, self.guard, self.collector, reuse)

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Process the records under their keys."""
        invariant(batch.keys is not None, f"operator {self.context.name!r} got records without keys")
        self._loop.run(self._process, batch)
        self.key_context.key = NO_KEY


class KeyedReduceOperator(FunctionOperator):
    """Emits the reduction of a key's records so far for each record; with ``final_only`` only the final one, at the end."""

    key_context: KeyContext
    ends_keys = True

    def __init__(self, function: Any, output_type: Any, *, final_only: bool) -> None:
        super().__init__(function, output_type)
        self._final: list[Any] = []
        self._reduce = user_callable(function, "reduce")
        self._final_only = final_only

    def open(self) -> None:
        """Open the function and its state."""
        self.key_context = KeyContext()
        super().open()
        serializer = None if self.output_type is None else self.output_type.create_serializer()
        self._table = self.context.backend.table(REDUCE_STATE, serializer=serializer, kind="reducing")
        self._settle: Callable[[Any], Any] | None = None if object_reuse(self.context) else isolated

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Reduce the records into the values of their keys."""
        values, timestamps, keys = batch.values, batch.timestamps, batch.keys or []
        invariant(len(keys) == len(values), f"operator {self.context.name!r} got records without keys")
        source = iter(values)
        records = zip(source, keys)  # noqa: B905 - as long as each other
        results: list[Any] = []
        left_out: list[int] = []
        failure: WieselError | None = None
        error: Exception | None = None
        while failure is None:
            try:
                self._reduce_all(records, results)
                break
            except Exception as raised:  # noqa: BLE001 - whatever a user's function raises is about its record
                error = raised
            index = len(values) - length_hint(source) - 1
            failure = self.guard.failed(error, values[index], None if timestamps is None else timestamps[index])
            left_out.append(index)
        self.key_context.key = NO_KEY
        if not self._final_only:
            if timestamps is not None and left_out:
                gone = set(left_out)
                timestamps = [t for i, t in enumerate(timestamps) if i not in gone][: len(results)]
            self.collector.emit_main(results, timestamps)
        if failure is not None and error is not None:
            raise_failure(failure, error)

    def _reduce_all(self, records: Any, results: list[Any]) -> None:
        get, put, reduce, settle, atomic = self._table.get, self._table.put, self._reduce, self._settle, ATOMIC
        key_context, append = self.key_context, results.append
        emit = not self._final_only
        for value, key in records:
            key_context.key = key
            before = get(key)
            reduced = value if before is None else reduce(before, value)
            put(key, reduced)
            if emit:
                # The function may change value1, so the present value is emitted.
                append(reduced if settle is None or type(reduced) in atomic else settle(reduced))

    def end_key(self) -> None:
        """The result of the key is final."""
        if self._final_only:
            self._final += [value for _, _, value in self._table.items()]
            if len(self._final) >= _FINAL_RESULTS:
                self._emit_final()

    def _emit_final(self) -> None:
        """Emit final results, with the maximal timestamp (as in Flink)."""
        values, self._final = self._final, []
        self.collector.emit_main(values, list(repeat(MAX_TIMESTAMP, len(values))))

    def process_watermark(self, timestamp: int) -> None:
        """Emit the results at the end of the input with ``final_only``."""
        if timestamp == MAX_TIMESTAMP and self._final_only:
            self._final += [value for _, _, value in self._table.items()]
            self._emit_final()
        self.output.emit_watermark(timestamp)


def _uses_state(function: Any) -> bool:
    """Return whether a function can access keyed state: only in ``open`` and ``initialize_state``."""
    return isinstance(function, CheckpointedFunction) or (isinstance(function, Function) and type(function).open is not Function.open)


def keyed_map_operator(params: dict[str, Any], payload: Any) -> StreamOperator:
    """Create the operator of ``map`` on a keyed stream."""
    function, output_type = payload["function"], payload.get("output_type")
    if not _uses_state(function):
        return MapOperator(function, output_type)
    call = user_callable(function, "map")
    return SimpleKeyedOperator(function, output_type, lambda value, _: (call(value),))


def keyed_flat_map_operator(params: dict[str, Any], payload: Any) -> StreamOperator:
    """Create the operator of ``flat_map`` on a keyed stream."""
    function, output_type = payload["function"], payload.get("output_type")
    if not _uses_state(function):
        return FlatMapOperator(function, output_type)
    call = user_callable(function, "flat_map")
    return SimpleKeyedOperator(function, output_type, lambda value, _: call(value))


def keyed_filter_operator(params: dict[str, Any], payload: Any) -> StreamOperator:
    """Create the operator of ``filter`` on a keyed stream."""
    function = payload["function"]
    if not _uses_state(function):
        return FilterOperator(function)
    call = user_callable(function, "filter")
    return SimpleKeyedOperator(function, None, lambda value, _: (value,) if call(value) else None, passes_input=True)


def keyed_reduce_operator(params: dict[str, Any], payload: Any) -> KeyedReduceOperator:
    """Create the operator of ``reduce`` on a keyed stream."""
    return KeyedReduceOperator(payload["function"], payload.get("output_type"), final_only=bool(params.get("final_only")))
