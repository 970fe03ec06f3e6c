"""Internal. Serialisation of stored objects: few pickles of long lists, not one per entry."""

from __future__ import annotations

import datetime
import pickle
import uuid
from collections.abc import Collection, Iterable
from decimal import Decimal
from fractions import Fraction
from itertools import chain, repeat
from typing import Any

from wiesel.core import code_pickling
from wiesel.core.durations import Instant
from wiesel.core.errors import SerializationError, StateMigrationError
from wiesel.state.paged_buffer import PagedBuffer
from wiesel.types.row import Row, RowKind, make_row

__all__ = ["REMOVED", "Pickled", "dump", "freeze", "immutable", "load"]


class _Removed:
    """Marks a removed value; a singleton."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "REMOVED"

    def __reduce__(self) -> str:
        return "REMOVED"


REMOVED: Any = _Removed()

_PROTOCOL = 5
_SAMPLE = 64
_ATOMIC = frozenset(
    {
        *(type(None), bool, int, float, complex, str, bytes, Decimal, Fraction, Instant, uuid.UUID, _Removed),
        *(datetime.datetime, datetime.date, datetime.time, datetime.timedelta, datetime.timezone),
    }
)


def immutable(values: Iterable[Any], kinds: set[type] | None = None) -> bool:
    """Return True if all values are known to be immutable: atoms and tuples of atoms. False when in doubt.

    Args:
        values: The values.
        kinds: Their types, if already known.
    """
    values = values if isinstance(values, Collection) else list(values)
    kinds = set(map(type, values)) if kinds is None else kinds
    others = kinds - _ATOMIC
    if not others:
        return True
    tuples = values if kinds == {tuple} else (v for v in values if type(v) is tuple)
    return others == {tuple} and _ATOMIC.issuperset(map(type, chain.from_iterable(tuples)))


class Pickled:
    """A column that was pickled ahead of the rest, as its objects could change before the section is written."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data

    def __reduce__(self) -> tuple[Any, ...]:
        return Pickled, (self.data,)


def freeze(column: list[Any], what: str) -> Pickled:
    """Pickle a column now; see :func:`dump` for the arguments and errors. :func:`load` returns the original column."""
    out = PagedBuffer()
    dump((column,), what, out)
    with out.view(0, out.tell()) as data:
        return Pickled(bytes(data))


def dump(columns: tuple[Any, ...], what: str, out: PagedBuffer, *, settled: bool = False) -> None:
    """Write lists of objects as bytes.

    Args:
        columns: Lists of equal length, or any objects.
        what: Names the state in an error.
        out: The buffer to write to, from its position on.
        settled: Apart from keys and namespaces all values are known to be immutable, so that checking a sample of each is enough.

    Raises:
        SerializationError: If an object cannot be pickled.
    """
    columns = tuple(map(_pack, columns))
    start = out.tell()
    pickler = pickle.Pickler(out, _PROTOCOL)
    # Without the memo, which is needed only for objects that occur twice, atoms are written nearly three times as fast.
    looked_at = [column[:_SAMPLE] if settled and type(column) is list else column for column in columns]
    pickler.fast = all(type(column) is Pickled or (type(column) is list and immutable(column)) for column in looked_at)
    try:
        pickler.dump(columns)
        return
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError):
        out.seek(start)  # classes defined in the user's script can be pickled by value only
    try:
        out.write(code_pickling.dumps(columns, _PROTOCOL))
    except Exception as error:
        raise SerializationError(
            f"{what} holds a value that cannot be pickled: {error}",
            hint="keep picklable values in state: no open files, connections, locks, generators or lambdas",
        ) from error


def load(data: bytes | memoryview, what: str) -> tuple[Any, ...]:
    """Read back what :func:`dump` wrote.

    Raises:
        StateMigrationError: If a class that the state needs is missing or has changed.
    """
    try:
        return tuple(map(_unpack, pickle.loads(data)))
    except Exception as error:  # the bytes passed their checksum, so what fails is user code
        raise StateMigrationError(
            f"{what} cannot be read back: {type(error).__name__}: {error}",
            hint="make the classes that it was written with available under the same module and name",
        ) from error


class _Rows:
    """A column of rows of equal names; pickled several times faster than the rows themselves."""

    def __init__(self, names: list[str] | None, kinds: list[RowKind] | None, values: list[list[Any]]) -> None:
        self.parts = (names, kinds, values)

    def __reduce__(self) -> tuple[Any, ...]:
        return _Rows, self.parts


def _pack(column: Any) -> Any:
    if type(column) is not list or not column or type(column[0]) is not Row or set(map(type, column)) != {Row}:
        return column
    names = column[0]._names
    if any(row._names is not names and row._names != names for row in column):
        return column
    kinds = [row._row_kind for row in column]
    plain = all(kind is RowKind.INSERT for kind in kinds)
    return _Rows(names, None if plain else kinds, [row._values for row in column])


def _unpack(column: Any) -> Any:
    if type(column) is Pickled:
        return _unpack(pickle.loads(column.data)[0])
    if type(column) is not _Rows:
        return column
    names, kinds, values = column.parts
    return [make_row(names, row, kind) for row, kind in zip(values, kinds or repeat(RowKind.INSERT), strict=False)]
