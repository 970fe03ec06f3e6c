"""Internal. Results as tables of text, in Flink's form."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from wiesel.sql.session.result_strings import NULL
from wiesel.types import logical as t

__all__ = ["border_line", "lines_by_content", "lines_by_type", "row_line", "widths_by_type"]

_DIGITS: dict[type[t.DataType], int] = {t.TinyIntType: 3, t.SmallIntType: 5, t.IntType: 10, t.BigIntType: 19}
_DOTS = "..."


def widths_by_type(names: Sequence[str], types: Sequence[t.DataType], most: int) -> list[int]:
    """Return how wide columns are whose values are not known yet."""
    # As in Flink the name counts by its letters, wide ones too.
    return [max(len(name), _type_width(of, most), len(NULL)) for name, of in zip(names, types, strict=True)]


def _type_width(of: t.DataType, most: int) -> int:
    if type(of) in _DIGITS:
        return _DIGITS[type(of)] + 1
    if isinstance(of, t.DecimalType):
        return of.precision + 2
    if isinstance(of, t.BooleanType):
        return 5
    if isinstance(of, t.DateType):
        return 10
    if isinstance(of, t.TimeType):
        return 9 + of.precision if of.precision else 8
    if isinstance(of, t.TimestampType | t.LocalZonedTimestampType):
        return 20 + of.precision if of.precision else 19
    return most


def lines_by_type(names: Sequence[str], widths: Sequence[int], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table, each as soon as its row is there."""
    rule = border_line(widths)
    count = 0
    for row in rows:
        if not count:
            yield from (rule, row_line(names, widths), rule)
        count += 1
        yield row_line(row, widths)
    if not count:
        yield "Empty set"
        return
    yield rule
    yield f"{count} {'rows' if count > 1 else 'row'} in set"


def lines_by_content(names: Sequence[str], rows: Iterable[Sequence[str]], most: int) -> Iterator[str]:
    """Yield the lines of a table with columns as wide as their values, at most ``most``."""
    all_rows = list(rows)
    widths = [max(_width(name), min(most, max((_width(row[index]) for row in all_rows), default=0))) for index, name in enumerate(names)]
    return lines_by_type(names, widths, all_rows)


def border_line(widths: Sequence[int]) -> str:
    """Return the line above and below the names of columns."""
    return "+" + "+".join("-" * (width + 2) for width in widths) + "+"


def row_line(values: Sequence[str], widths: Sequence[int]) -> str:
    """Return the line of a row."""
    return "|" + "|".join(f" {_fitted(value, width)} " for value, width in zip(values, widths, strict=True)) + "|"


def _fitted(value: str, width: int) -> str:
    length = _width(value)
    if length > width:
        value = _shortened(value, width - len(_DOTS)) + _DOTS
        length = _width(value)
    return " " * (width - length) + value


def _shortened(value: str, width: int) -> str:
    taken = 0
    for index, letter in enumerate(value):
        taken += _width(letter)
        if taken > width:
            return value[:index]
    return value


def _width(text: str) -> int:
    """Return how many places of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
