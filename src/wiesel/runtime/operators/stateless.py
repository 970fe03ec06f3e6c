"""Internal. Stateless operators: map, flat_map, filter, project, convert."""

from __future__ import annotations

import operator
from collections.abc import Callable
from itertools import compress
from typing import Any

from wiesel.runtime.isolation import has_memory, isolated
from wiesel.runtime.operators.function_operator import FunctionOperator, object_reuse
from wiesel.runtime.results import ProcessLoop
from wiesel.runtime.user_code import raise_failure, without
from wiesel.spi.functions import user_callable
from wiesel.state.key_context import KeyContext
from wiesel.wire.batch import Batch

__all__ = ["convert_operator", "filter_operator", "flat_map_operator", "map_operator", "project_operator"]


class MapOperator(FunctionOperator):
    """One result per record, with the record's timestamp."""

    def __init__(self, function: Any, output_type: Any = None, *, pure: bool = False) -> None:
        super().__init__(function, output_type)
        self._call = user_callable(function, "map")
        self._pure = pure

    def open(self) -> None:
        """Open the function."""
        super().open()
        self._isolate = not self._pure and not object_reuse(self.context) and has_memory(self._call)

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Map all records."""
        results: list[Any] = []
        call = self._isolated_call if self._isolate else self._call
        skipped, failure, error = self.guard.map_batch(call, batch.values, batch.timestamps, results)
        timestamps = batch.timestamps
        if timestamps is not None and len(results) < len(timestamps):
            timestamps = without(timestamps, skipped)[: len(results)]
        self.collector.emit(results, timestamps)
        if failure is not None and error is not None:
            raise_failure(failure, error)

    def _isolated_call(self, value: Any) -> Any:
        return isolated(self._call(value))


class FlatMapOperator(FunctionOperator):
    """Any number of results per record, with the record's timestamp."""

    def __init__(self, function: Any, output_type: Any = None) -> None:
        super().__init__(function, output_type)
        self._call = user_callable(function, "flat_map")

    def open(self) -> None:
        """Open the function."""
        super().open()
        # A stateless function may also change a yielded object before it yields again.
        self._loop = ProcessLoop(_Timestamp(), KeyContext(), self.guard, self.collector, object_reuse(self.context))

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Map all records."""
        call = self._call
        self._loop.run(lambda value, _: call(value), batch)


class _Timestamp:
    __slots__ = ("current_timestamp",)

    def __init__(self) -> None:
        self.current_timestamp: int | None = None


class FilterOperator(FunctionOperator):
    """Emits the records for which the function returns true."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._call = user_callable(function, "filter")

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Filter all records."""
        values, timestamps = batch.values, batch.timestamps
        verdicts: list[Any] = []
        skipped, failure, error = self.guard.map_batch(self._call, values, timestamps, verdicts)
        values, timestamps = _judged(values, timestamps, verdicts, skipped)
        if not _PLAIN.issuperset(map(type, verdicts)):
            # Conversion to bool is user code as well (arrays raise).
            told, verdicts = verdicts, []
            skipped, earlier, cause = self.guard.map_batch(_truth, values, timestamps, verdicts, told)
            values, timestamps = _judged(values, timestamps, verdicts, skipped)
            if earlier is not None:
                failure, error = earlier, cause
        kept = list(compress(values, verdicts))
        if kept:
            self.output.emit(Batch(kept, None if timestamps is None else list(compress(timestamps, verdicts))))
        if failure is not None and error is not None:
            raise_failure(failure, error)


_PLAIN = frozenset({bool, int, type(None)})


def _truth(value: Any, verdict: Any) -> bool:
    return bool(verdict)


def _judged(values: list[Any], timestamps: Any, verdicts: list[Any], skipped: list[int]) -> tuple[list[Any], Any]:
    """Return the records that have a verdict, with their timestamps."""
    if len(verdicts) == len(values):
        return values, timestamps
    end = len(verdicts)
    return without(values, skipped)[:end], None if timestamps is None else without(timestamps, skipped)[:end]


class _Project:
    """Selects fields of a tuple or row."""

    def __init__(self, fields: list[Any]) -> None:
        self._get: Callable[[Any], Any] = operator.itemgetter(*fields)
        self._single = len(fields) == 1

    def __call__(self, value: Any) -> tuple[Any, ...]:
        return (self._get(value),) if self._single else self._get(value)


def map_operator(params: dict[str, Any], payload: Any) -> MapOperator:
    """Create the operator of ``map``."""
    return MapOperator(payload["function"], payload.get("output_type"))


def flat_map_operator(params: dict[str, Any], payload: Any) -> FlatMapOperator:
    """Create the operator of ``flat_map``."""
    return FlatMapOperator(payload["function"], payload.get("output_type"))


def filter_operator(params: dict[str, Any], payload: Any) -> FilterOperator:
    """Create the operator of ``filter``."""
    return FilterOperator(payload["function"])


def project_operator(params: dict[str, Any], payload: Any) -> MapOperator:
    """Create the operator of ``project``."""
    return MapOperator(_Project(list(params["fields"])), (payload or {}).get("output_type"), pure=True)


def convert_operator(params: dict[str, Any], payload: Any) -> MapOperator:
    """Create the operator that applies the conversion of a declared type."""
    return MapOperator(_same, payload["output_type"], pure=True)


def _same(value: Any) -> Any:
    return value
