"""Internal. Built-in functions of the API; they are shipped like user functions."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any

from wiesel.dataset.functions import Aggregations
from wiesel.spi.functions import Function, ReduceFunction
from wiesel.types.row import Row

__all__ = ["CsvLine", "Everything", "FieldKey", "FieldsReduce", "FirstOfGroup", "KeepFirst", "SelectedBy", "WholeRecord", "to_tuple"]

_SELECTED: dict[Aggregations, Callable[[Any, Any], Any]] = {
    Aggregations.SUM: lambda a, b: a + b,
    Aggregations.MIN: min,
    Aggregations.MAX: max,
}


class FieldKey:
    """Selects fields of a tuple or row: a single one as a value, several as a tuple."""

    def __init__(self, fields: Sequence[int | str]) -> None:
        self.fields = tuple(fields)
        self._get = itemgetter(*fields)

    def __call__(self, value: Any) -> Any:
        return self._get(value)


class WholeRecord:
    """The record itself as its key."""

    def __call__(self, value: Any) -> Any:
        return value


class Everything:
    """One key for all records."""

    def __call__(self, value: Any) -> int:
        return 0


class KeepFirst(ReduceFunction):
    """Any one of the records."""

    def reduce(self, value1: Any, value2: Any) -> Any:
        """Return the first."""
        return value1


class FieldsReduce(ReduceFunction):
    """Aggregates fields; the others are those of the last record."""

    def __init__(self, aggregations: Sequence[tuple[Aggregations, int | str]]) -> None:
        self.aggregations = tuple(aggregations)

    def reduce(self, value1: Any, value2: Any) -> Any:
        """Return the second record with the aggregated fields."""
        changed = {field: _SELECTED[kind](value1[field], value2[field]) for kind, field in self.aggregations}
        if isinstance(value2, Row):
            result = Row(*value2)
            result._names = value2._names
            for field, value in changed.items():
                result[field] = value
            return result
        return tuple(changed.get(i, value) for i, value in enumerate(value2))


class SelectedBy(ReduceFunction):
    """Returns the record with the smallest or largest fields; the first of equal ones."""

    def __init__(self, fields: Sequence[int | str], *, largest: bool) -> None:
        self._key = FieldKey(fields)
        self._largest = largest

    def reduce(self, value1: Any, value2: Any) -> Any:
        """Return one of the two."""
        a, b = self._key(value1), self._key(value2)
        return value2 if (b > a if self._largest else b < a) else value1


class FirstOfGroup(Function):
    """The first records of a group."""

    def __init__(self, n: int) -> None:
        self.n = n

    def reduce(self, values: Iterator[Any]) -> Iterable[Any]:
        """Return the first records."""
        return islice(values, self.n)

    combine = reduce


def to_tuple(row: Row) -> tuple[Any, ...]:
    """Return the values of a row as a tuple."""
    return tuple(row)


class CsvLine:
    """Formats a tuple or row as a line of CSV, without line end."""

    def __init__(self, field_delimiter: str) -> None:
        self._field_delimiter = field_delimiter

    def __call__(self, value: Any) -> str:
        text = io.StringIO()
        csv.writer(text, delimiter=self._field_delimiter, lineterminator="").writerow(value)
        return text.getvalue()
