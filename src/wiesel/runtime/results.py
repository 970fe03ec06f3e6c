"""Internal. Collects results of process functions into batches: loops over records, tagged results, declared types."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import repeat
from operator import length_hint
from typing import Any, TypeAlias

from wiesel.core.errors import WieselError
from wiesel.runtime.isolation import ATOMIC, isolated
from wiesel.runtime.operator import Output
from wiesel.runtime.user_code import UserCode, raise_failure, without
from wiesel.spi.output_tag import OutputTag, output_tags_exist
from wiesel.state.key_context import KeyContext
from wiesel.wire.batch import Batch

__all__ = ["ProcessLoop", "ResultCollector"]

_Process: TypeAlias = Callable[[Any, Any], Iterable[Any] | None]


class ResultCollector:
    """Emits the results of user functions: tagged ones to side outputs, the others coerced to the declared type."""

    def __init__(self, output: Output, guard: UserCode, output_type: Any) -> None:
        self._output = output
        self._guard = guard
        self._coerce = None if output_type is None else output_type.compile_coercer()
        self._fit: Callable[[list[Any]], bool] = bool if output_type is None else output_type.compile_batch_test()
        self._tag_coercers: dict[str, Callable[[Any], Any] | None] = {}

    def emit(self, values: list[Any], timestamps: list[Any] | None) -> None:
        """Hand on results in order. The lists belong to the collector."""
        if not values:
            return
        if output_tags_exist():
            tagged = [i for i, v in enumerate(values) if type(v) is tuple and v and type(v[0]) is OutputTag]
            if tagged:
                self._emit_tagged([values[i] for i in tagged], None if timestamps is None else [timestamps[i] for i in tagged])
                values = without(values, tagged)
                timestamps = None if timestamps is None else without(timestamps, tagged)
        self.emit_main(values, timestamps)

    def emit_main(self, values: list[Any], timestamps: list[Any] | None) -> None:
        """Emit results of the main output without tags."""
        failure = error = None
        if self._coerce is not None and not self._fit(values):
            values, timestamps, failure, error = self._coerced(self._coerce, values, timestamps)
        if values:
            self._output.emit(Batch(values, timestamps))
        if failure is not None and error is not None:
            raise_failure(failure, error)

    def _emit_tagged(self, pairs: list[Any], timestamps: list[Any] | None) -> None:
        by_tag: dict[str, tuple[list[Any], list[Any]]] = {}
        for pair, timestamp in zip(pairs, repeat(None) if timestamps is None else timestamps):  # noqa: B905 - repeat has no end
            tag = pair[0]
            if tag.tag_id not in self._tag_coercers:
                self._tag_coercers[tag.tag_id] = tag.type_info.compile_coercer()
            values, times = by_tag.setdefault(tag.tag_id, ([], []))
            values.append(pair[1])
            times.append(timestamp)
        for tag_id, (values, times) in by_tag.items():
            side_times: list[Any] | None = None if timestamps is None else times
            failure = error = None
            coerce = self._tag_coercers[tag_id]
            if coerce is not None:
                values, side_times, failure, error = self._coerced(coerce, values, side_times)
            self._output.emit_side(tag_id, Batch(values, side_times))
            if failure is not None and error is not None:
                failure.message += f"\n  for side output {tag_id!r}"
                raise_failure(failure, error)

    def _coerced(
        self, coerce: Callable[[Any], Any], values: list[Any], timestamps: list[Any] | None
    ) -> tuple[list[Any], list[Any] | None, WieselError | None, Exception | None]:
        results: list[Any] = []
        skipped, failure, error = self._guard.map_batch(coerce, values, timestamps, results)
        if timestamps is not None:
            timestamps = without(timestamps, skipped) if skipped else timestamps
            timestamps = timestamps if len(timestamps) == len(results) else timestamps[: len(results)]
        return results, timestamps, failure, error


class ProcessLoop:
    """Calls a process function for the records of batches and emits its results.

    ``context`` needs an attribute ``current_timestamp``; it and the key context are set before each call.
    """

    def __init__(self, context: Any, key_context: KeyContext, guard: UserCode, collector: ResultCollector, object_reuse: bool) -> None:
        self._context = context
        self._key_context = key_context
        self._guard = guard
        self._collector = collector
        self._settle: Callable[[Any], Any] | None = None if object_reuse else isolated

    def run(self, process: _Process, batch: Batch) -> None:
        """Process all records of a batch and emit the results once."""
        values, timestamps = batch.values, batch.timestamps
        keys: Iterable[Any] = repeat(None) if batch.keys is None else batch.keys
        source = iter(values)
        results: list[Any] = []
        times: list[Any] = []
        if timestamps is None:
            self._context.current_timestamp = None
        records = zip(source, keys) if timestamps is None else zip(source, keys, timestamps)  # noqa: B905 - keys may be endless
        loop = self._plain if timestamps is None else self._timed
        while True:
            try:
                loop(process, records, results, times)
                break
            except Exception as raised:  # noqa: BLE001 - whatever a user's function raises is about its record
                error = raised
            index = len(values) - length_hint(source) - 1
            timestamp = None if timestamps is None else timestamps[index]
            failure = self._guard.failed(error, values[index], timestamp)
            if failure is not None:
                self._collector.emit(results, None if timestamps is None else times)
                raise_failure(failure, error)
        self._collector.emit(results, None if timestamps is None else times)

    # The two loops only differ in the timestamps. ``isolated`` is inlined for atoms and tuples of atoms: a call per record would cost a
    # third of the total.

    def _timed(self, process: _Process, records: Any, results: list[Any], times: list[Any]) -> None:
        key_context, context, settle, atomic = self._key_context, self._context, self._settle, ATOMIC
        append, append_time = results.append, times.append
        for value, key, timestamp in records:
            key_context.key = key
            context.current_timestamp = timestamp
            produced = process(value, context)
            if produced is not None:
                for result in produced:
                    kind = type(result)
                    if settle is None or kind in atomic:
                        append(result)
                    elif kind is tuple:
                        for part in result:
                            if type(part) not in atomic:
                                append(settle(result))
                                break
                        else:
                            append(result)
                    else:
                        append(settle(result))
                    append_time(timestamp)

    def _plain(self, process: _Process, records: Any, results: list[Any], times: list[Any]) -> None:
        key_context, context, settle, atomic = self._key_context, self._context, self._settle, ATOMIC
        append = results.append
        for value, key in records:
            key_context.key = key
            produced = process(value, context)
            if produced is not None:
                for result in produced:
                    kind = type(result)
                    if settle is None or kind in atomic:
                        append(result)
                    elif kind is tuple:
                        for part in result:
                            if type(part) not in atomic:
                                append(settle(result))
                                break
                        else:
                            append(result)
                    else:
                        append(settle(result))
