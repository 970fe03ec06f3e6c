"""Internal. State of process table functions: rows and objects per key, lists and maps with access to single entries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from wiesel.runtime.table.base import state_ttl
from wiesel.runtime.table.process.spec import ProcessState
from wiesel.state.backend import StateBackend
from wiesel.types.records import fields_of
from wiesel.types.row import Row, make_row
from wiesel.types.serializers import serializer_for

__all__ = ["ListState", "MapState", "ProcessStates"]


class StateRow(Row):
    """A row whose fields can be set as attributes."""

    __slots__ = ()

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._fields:
            self[name] = value
        else:
            super().__setattr__(name, value)


class ListState:
    """A list of one key, with the methods of ``ListView``."""

    def __init__(self, table: Any, key: Any) -> None:
        self._table = table
        self._key = key

    def get(self) -> Iterable[Any]:
        """Return the elements."""
        return list(self._table.get(self._key) or ())

    def add(self, value: Any) -> None:
        """Append an element."""
        self._table.append(self._key, value)

    def add_all(self, values: Iterable[Any]) -> None:
        """Append elements."""
        self._table.extend(self._key, list(values))

    def clear(self) -> None:
        """Remove all elements."""
        self._table.remove(self._key)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.get())

    def __len__(self) -> int:
        return len(self._table.get(self._key) or ())


class MapState:
    """A map of one key, with the methods of ``MapView``."""

    def __init__(self, table: Any, key: Any) -> None:
        self._table = table
        self._key = key

    def get(self, key: Any) -> Any:
        """Return the value of a key; raises KeyError if there is none."""
        found = self._table.get_entry(self._key, key)
        if found is None:
            raise KeyError(key)
        return found[0]

    def put(self, key: Any, value: Any) -> None:
        """Set the value of a key."""
        self._table.put_entry(self._key, key, (value,))

    def put_all(self, values: dict[Any, Any]) -> None:
        """Set the values of several keys."""
        for key, value in values.items():
            self.put(key, value)

    def remove(self, key: Any) -> None:
        """Remove a key; a KeyError if it is not there."""
        self.get(key)
        self._table.remove_entry(self._key, key)

    def contains(self, key: Any) -> bool:
        """Return whether a key exists."""
        return self._table.get_entry(self._key, key) is not None

    def items(self) -> Iterable[tuple[Any, Any]]:
        """Return keys with their values."""
        return [(key, value[0]) for key, value in self._table.entries(self._key)]

    def keys(self) -> Iterable[Any]:
        """Return the keys."""
        return [key for key, _ in self._table.entries(self._key)]

    def values(self) -> Iterable[Any]:
        """Return the values."""
        return [value[0] for _, value in self._table.entries(self._key)]

    def is_empty(self) -> bool:
        """Return whether there are no keys."""
        return not self._table.has_entries(self._key)

    def clear(self) -> None:
        """Remove all keys."""
        self._table.remove(self._key)

    __getitem__ = get
    __setitem__ = put
    __delitem__ = remove
    __contains__ = contains

    def __iter__(self) -> Iterator[Any]:
        return iter(self.keys())


def _attributes(value: Any) -> dict[str, Any]:
    """Return the attributes of an object of a state, by name."""
    found = fields_of(value)
    return dict(vars(value)) if found is None else found[0]


class ProcessStates:
    """The state entries of a function. Rows and objects of keys are read once per batch, and written at its end.

    Args:
        states: The entries.
        context: The operator's context.
    """

    def __init__(self, states: tuple[ProcessState, ...], context: Any) -> None:
        backend: StateBackend = context.backend
        self._states = states
        self._places = {state.name: place for place, state in enumerate(states)}
        self._tables: list[Any] = [
            backend.table(
                f"state {each.name}",
                serializer=None if each.type_info is None else serializer_for(each.type_info),
                kind=each.kind,
                ttl=state_ttl(context, each.ttl_ms),
            )
            for each in states
        ]
        self._live: dict[Any, list[Any]] = {}

    def of(self, key: Any) -> list[Any]:
        """Return the arguments for a function's state entries; rows and objects are changed in place."""
        found = self._live.get(key)
        if found is None:
            found = self._live[key] = [self._read(place, key) for place in range(len(self._states))]
        return found

    def _read(self, place: int, key: Any) -> Any:
        state, table = self._states[place], self._tables[place]
        if state.kind != "value":
            return (ListState if state.kind == "list" else MapState)(table, key)
        stored = table.get(key)
        if state.make is not None:
            return state.make() if stored is None else stored
        row = StateRow(**dict.fromkeys(state.fields))
        if stored is not None:
            row._values[:] = stored._values
        return row

    def clear(self, key: Any, name: str) -> None:
        """Clear an entry.

        Raises:
            KeyError: If there is no such entry.
        """
        place = self._places[name]
        value = self.of(key)[place]
        if self._states[place].kind != "value":
            value.clear()
        elif isinstance(value, Row):
            value._values[:] = [None] * len(value)
        else:
            for name_of, fresh in _attributes(self._states[place].make()).items():
                setattr(value, name_of, fresh)

    def clear_all(self, key: Any) -> None:
        """Clear all entries."""
        for state in self._states:
            self.clear(key, state.name)

    def write(self) -> None:
        """Write the accessed entries to the tables."""
        for key, values in self._live.items():
            for state, table, value in zip(self._states, self._tables, values, strict=True):
                if state.kind != "value":
                    continue
                if state.make is not None:
                    fresh = _attributes(state.make()) == _attributes(value)
                    table.remove(key) if fresh else table.put(key, value)
                elif any(part is not None for part in value._values):
                    table.put(key, make_row(list(state.fields), list(value._values)))
                else:
                    table.remove(key)
        self._live.clear()
