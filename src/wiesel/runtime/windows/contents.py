"""Internal. Window contents in state: all elements, or an incrementally aggregated value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from wiesel.runtime.windows.spec import WindowSpec
from wiesel.spi.functions import user_callable
from wiesel.types.typeinfo import ListTypeInfo, TypeInformation

if TYPE_CHECKING:
    from wiesel.state.backend import ListTable, StateBackend

__all__ = ["CONTENTS", "AggregatingContents", "ListContents", "ReducingContents", "WindowContents", "make_contents"]

CONTENTS = "window-contents"


class WindowContents(ABC):
    """Contents by (key, namespace)."""

    def __init__(self, table: Any) -> None:
        self.table = table

    @abstractmethod
    def add(self, key: Any, namespace: Any, value: Any) -> None:
        """Add an element."""

    @abstractmethod
    def get(self, key: Any, namespace: Any) -> list[Any] | None:
        """Return the input of the window function (a new list), None if the window is empty."""

    @abstractmethod
    def merge(self, key: Any, target: Any, sources: Iterable[Any]) -> None:
        """Merge the contents under ``sources`` into those under ``target``."""

    def clear(self, key: Any, namespace: Any) -> None:
        """Drop the contents."""
        self.table.remove(key, namespace)


class ListContents(WindowContents):
    """All elements, in order of arrival."""

    table: ListTable

    def add(self, key: Any, namespace: Any, value: Any) -> None:
        self.table.append(key, value, namespace)

    def get(self, key: Any, namespace: Any) -> list[Any] | None:
        # A copy: the function may sort or retain it while the window continues.
        return list(self.table.get(key, namespace) or ()) or None

    def merge(self, key: Any, target: Any, sources: Iterable[Any]) -> None:
        for namespace in sources:
            elements = self.table.get(key, namespace)
            if elements:
                self.table.extend(key, elements, target)
            self.table.remove(key, namespace)


class _OneValue(WindowContents):
    """One value per window, defined by the subclasses. None is no value: a user's function may reduce elements to it."""

    @abstractmethod
    def updated(self, state: Any, value: Any) -> Any:
        """Return the state after an element; the initial state is None."""

    @abstractmethod
    def combined(self, state: Any, other: Any) -> Any:
        """Merge two states."""

    def add(self, key: Any, namespace: Any, value: Any) -> None:
        self.store(key, namespace, self.updated(self.table.get(key, namespace), value))

    def get(self, key: Any, namespace: Any) -> list[Any] | None:
        return self.shown(self.table.get(key, namespace))

    def shown(self, state: Any) -> list[Any] | None:
        """Return the input of the window function for a state; None if there is none."""
        return None if state is None else [state]

    def store(self, key: Any, namespace: Any, state: Any) -> None:
        """Set the state."""
        if state is None:
            self.table.remove(key, namespace)
        else:
            self.table.put(key, state, namespace)

    def merge(self, key: Any, target: Any, sources: Iterable[Any]) -> None:
        result = self.table.get(key, target)
        for namespace in sources:
            state = self.table.get(key, namespace)
            if state is not None:
                result = state if result is None else self.combined(result, state)
                self.table.remove(key, namespace)
        self.store(key, target, result)


class ReducingContents(_OneValue):
    """One value, combined by a reduce function."""

    def __init__(self, table: Any, reduce: Callable[[Any, Any], Any]) -> None:
        super().__init__(table)
        self.reduce = reduce

    def updated(self, state: Any, value: Any) -> Any:
        return value if state is None else self.reduce(state, value)

    def combined(self, state: Any, other: Any) -> Any:
        return self.reduce(state, other)


class AggregatingContents(_OneValue):
    """One accumulator of an aggregate function."""

    def __init__(self, table: Any, function: Any) -> None:
        super().__init__(table)
        self.create: Callable[[], Any] = function.create_accumulator
        self.add_to: Callable[[Any, Any], Any] = function.add
        self.get_result: Callable[[Any], Any] = function.get_result
        self._merge: Callable[[Any, Any], Any] = function.merge

    def updated(self, state: Any, value: Any) -> Any:
        return self.add_to(value, self.create() if state is None else state)

    def combined(self, state: Any, other: Any) -> Any:
        return self._merge(state, other)

    def shown(self, state: Any) -> list[Any] | None:
        result = None if state is None else self.get_result(state)
        return None if result is None else [result]


def make_contents(backend: StateBackend, spec: WindowSpec, name: str = CONTENTS) -> WindowContents:
    """Return the contents of a spec, in the table of that name."""
    if spec.incremental_kind is None:
        elements = None if spec.input_type is None else ListTypeInfo(spec.input_type)
        return ListContents(backend.table(name, serializer=_serializer(elements), kind="list"))
    if spec.incremental_kind == "reduce":
        table = backend.table(name, serializer=_serializer(spec.input_type), kind="reducing")
        return ReducingContents(table, user_callable(spec.incremental, "reduce"))
    table = backend.table(name, serializer=_serializer(spec.accumulator_type), kind="aggregating")
    return AggregatingContents(table, spec.incremental)


def _serializer(type_info: TypeInformation | None) -> Any:
    return None if type_info is None else type_info.create_serializer()
