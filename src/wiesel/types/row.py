"""Internal. Rows: ordered values with optional field names and a row kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any, cast

__all__ = ["Row", "RowKind", "make_row"]


class RowKind(Enum):
    """The row kind of a change in a changelog."""

    INSERT = 0
    UPDATE_BEFORE = 1
    UPDATE_AFTER = 2
    DELETE = 3

    def __str__(self) -> str:
        return _SHORT_NAMES[self.value]


_SHORT_NAMES = ("+I", "-U", "+U", "-D")
_INSERT = RowKind.INSERT


def _create_row(fields: list[str] | None, values: Sequence[Any], row_kind: RowKind | None = None) -> Row:
    """Build a row from its parts; referenced by pickles of rows."""
    return make_row(fields, list(values), _INSERT if row_kind is None else row_kind)


class _RowParts:
    """The parts of an incomplete row."""

    __slots__ = ("_names", "_row_kind", "_values")
    _names: list[str] | None
    _row_kind: RowKind
    _values: list[Any]


class Row(_RowParts):
    """An ordered sequence of values, read by position and, where it has field names, also by name.

    ``Row("a", 1)`` has positions only; ``Row(name="a", n=1)`` has field names in the given order. Calling a row uses its values as field
    names: ``Person = Row("name", "age"); Person("Ann", 7)``. Rows are mutable and compare by kind, names (in any order) and values; a row
    with names differs from one without.

    Raises:
        ValueError: If positional and named values are mixed.
    """

    __slots__ = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # Through the slots' setters: __setattr__ below is for users, and a Python call per attribute is expensive for a record.
        if not kwargs:
            _set_values(self, list(args))
            _set_names(self, None)
        elif args:
            raise ValueError("Can not use both args and kwargs to create Row")
        else:
            _set_values(self, list(kwargs.values()))
            _set_names(self, list(kwargs))
        _set_kind(self, _INSERT)

    @property
    def _fields(self) -> list[str]:
        # PyFlink programs ask hasattr(row, "_fields") for whether a row has names.
        if self._names is None:
            raise AttributeError("_fields")
        return self._names

    @_fields.setter
    def _fields(self, names: list[str]) -> None:
        _set_names(self, names)

    @property
    def _from_dict(self) -> bool:
        return self._names is not None

    @staticmethod
    def of_kind(row_kind: RowKind, *args: Any, **kwargs: Any) -> Row:
        """Return a row of the given row kind."""
        row = Row(*args, **kwargs)
        row._row_kind = row_kind
        return row

    def get_row_kind(self) -> RowKind:
        """Return the row kind; ``INSERT`` unless set."""
        return self._row_kind

    def set_row_kind(self, row_kind: RowKind) -> None:
        """Set the row kind."""
        self._row_kind = row_kind

    def set_field_names(self, field_names: list[str]) -> None:
        """Set the names of the values, in order."""
        self._fields = field_names

    def get_fields_by_names(self, names: list[str]) -> list[Any]:
        """Return the values of the named fields, in the order of ``names``; all values if the row has no names.

        Raises:
            ValueError: If the row has names and a given one is not among them.
        """
        fields = self._names
        if fields is None or names == fields:
            return self._values
        missing = [name for name in names if name not in fields]
        if missing:
            raise ValueError(f"Field names {missing} not exist in {fields}.")
        return [self._values[fields.index(name)] for name in names]

    def as_dict(self, recursive: bool = False) -> dict[str, Any]:
        """Return names and values as a dict; ``recursive`` also converts rows inside rows, lists and dicts.

        Raises:
            TypeError: If the row has no field names.
        """
        fields = self._names
        if fields is None:
            raise TypeError("Cannot convert a Row class into dict")
        values = (_nested_dict(value) for value in self._values) if recursive else self._values
        return dict(zip(fields, values, strict=False))

    def _is_retract_msg(self) -> bool:
        return self._row_kind in (RowKind.UPDATE_BEFORE, RowKind.DELETE)

    def _is_accumulate_msg(self) -> bool:
        return not self._is_retract_msg()

    def __contains__(self, item: Any) -> bool:
        fields = self._names
        return item in (self._values if fields is None else fields)

    def __call__(self, *args: Any) -> Row:
        if len(args) > len(self._values):
            raise ValueError(f"Can not create Row with fields {self}, expected {len(self)} values but got {args}")
        return _create_row(self._values, args, self._row_kind)

    def __getitem__(self, item: Any) -> Any:
        if isinstance(item, (int, slice)):
            return self._values[item]
        fields = self._names
        if fields is None:
            raise AttributeError("_fields")
        if item not in fields:
            raise ValueError(item)
        return self._values[fields.index(item)]

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, (int, slice)):
            self._values[key] = value
            return
        fields = self._names
        if fields is None:
            raise KeyError(key)
        if key not in fields:
            raise ValueError(value)
        self._values[fields.index(key)] = value

    def __getattr__(self, item: str) -> Any:
        if item.startswith("_"):
            raise AttributeError(item)
        fields = self._names
        if fields is None or item not in fields:
            raise AttributeError(item)
        return self._values[fields.index(item)]

    def __setattr__(self, key: str, value: Any) -> None:
        if key not in _ASSIGNABLE:
            raise AttributeError(key)
        object.__setattr__(self, key, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return _create_row, (self._names, tuple(self._values), self._row_kind)

    def __repr__(self) -> str:
        fields = self._names
        if fields is None:
            return f"<Row({', '.join(map(repr, self._values))})>"
        return f"Row({', '.join(f'{name}={value!r}' for name, value in zip(fields, self._values, strict=False))})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Row) or self.__class__ != other.__class__ or self._row_kind != other._row_kind:
            return False
        mine, theirs = self._names, other._names
        if mine == theirs:
            return self._values == other._values
        if mine is None or theirs is None or sorted(mine) != sorted(theirs):
            return False
        return [self._values[mine.index(name)] for name in mine] == [other._values[theirs.index(name)] for name in mine]

    def __hash__(self) -> int:
        return hash(tuple(self._values))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


_ASSIGNABLE = frozenset((*_RowParts.__slots__, "_fields"))
_set_names = _RowParts.__dict__["_names"].__set__
_set_kind = _RowParts.__dict__["_row_kind"].__set__
_set_values = _RowParts.__dict__["_values"].__set__


def make_row(names: list[str] | None, values: list[Any], row_kind: RowKind = _INSERT) -> Row:
    """Return a row that takes ownership of ``values`` and ``names`` (not copied); the fastest constructor."""
    # Twice as fast as three setters: attributes of the base class are set directly, without Row.__setattr__.
    row = _RowParts()
    row._names = names
    row._values = values
    row._row_kind = row_kind
    row.__class__ = Row
    return cast(Row, row)


def _nested_dict(value: Any) -> Any:
    if isinstance(value, Row):
        return value.as_dict(True)
    if isinstance(value, list):
        return [_nested_dict(item) for item in value]
    if isinstance(value, dict):
        return {key: _nested_dict(item) for key, item in value.items()}
    return value
