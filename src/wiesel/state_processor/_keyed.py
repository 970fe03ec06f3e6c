"""Internal. Iteration over keyed state: all states of each key, windows, timers, or the rows of a user function."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

from wiesel.core import code_pickling
from wiesel.core.errors import StateMigrationError
from wiesel.runtime.operator import OperatorContext
from wiesel.runtime.runtime_context import StreamingRuntimeContext
from wiesel.runtime.user_code import UserCode, raise_failure
from wiesel.runtime.windows.namespaces import decode_window
from wiesel.spi.state import StateDescriptor
from wiesel.state.backend import VOID, KeyedTable, StateBackend
from wiesel.state.handles import keys_with, serializer_of
from wiesel.state.key_context import NO_KEY, KeyContext
from wiesel.state.schema import StateSchema
from wiesel.state.ttl import TtlSettings
from wiesel.state.value_keys import key_value
from wiesel.state_processor._operator import NoOutput, operator_context
from wiesel.state_processor._parts import Expiry, KeyedPart
from wiesel.state_processor.functions import KeyedStateReaderFunction

__all__ = ["FunctionPart", "KeyedTimer", "StateView", "StatesPart", "TimersPart", "WindowContents", "WindowsPart"]


class KeyedTimer(NamedTuple):
    """A pending timer.

    Attributes:
        time_domain: ``event`` or ``processing``.
        timestamp: Its time in ms.
        key: Its key.
        window: Its window; None if it does not belong to a window.
    """

    time_domain: str
    timestamp: int
    key: Any
    window: Any = None


class WindowContents(NamedTuple):
    """The contents of a window of a key.

    Attributes:
        key: The key.
        window: The window.
        contents: The list of its elements (with an evictor: of pairs of element and timestamp), the reduced value, or the accumulator; None
            if its trigger has purged it.
        states: Per-window state of trigger and window function, by name.
    """

    key: Any
    window: Any
    contents: Any
    states: dict[str, Any]


@dataclass(frozen=True)
class StateView:
    """A keyed state with its stored and its displayed form."""

    name: str
    schema: StateSchema
    descriptor: StateDescriptor | None = None

    def table(self, backend: StateBackend, expiry: Expiry) -> KeyedTable:
        """Return its table, with values without access times."""
        descriptor = self.descriptor
        serializer = None if descriptor is None else serializer_of(descriptor)
        return backend.table(self.name, serializer=serializer, ttl=time_to_live(self.schema, descriptor, expiry), kind=self.schema.kind)

    def shown(self, value: Any) -> Any:
        """Return the displayed form of a stored value: an accumulator, or the result if its aggregate function is known."""
        if value is not None and self.descriptor is not None and self.schema.kind == "aggregating":
            return self.descriptor.get_agg_function().get_result(value)  # type: ignore[attr-defined]
        return value


def time_to_live(schema: StateSchema | None, descriptor: StateDescriptor | None, expiry: Expiry) -> TtlSettings | None:
    """Return the TTL for expiry: that of the descriptor, else that of the program that wrote the values."""
    if expiry.shown or schema is None or not schema.ttl:
        return None
    given = None if descriptor is None else descriptor.ttl_settings()
    ttl_ms = schema.ttl_ms if given is None else given.ttl_ms
    return None if ttl_ms is None else TtlSettings(ttl_ms, cleanup_entries=0)


@dataclass(frozen=True)
class StatesPart:
    """Part that yields (key, {state: value}) for each key with a value in one of the states."""

    part: KeyedPart
    states: tuple[StateView, ...]

    def items(self) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Read it."""
        with self.part.opened() as backend:
            tables = [(view, view.table(backend, self.part.expiry)) for view in self.states]
            keys = dict.fromkeys(key for _, table in tables for key, namespace in table.scan() if namespace is VOID)
            for key in keys:
                values = {view.name: view.shown(table.get(key)) for view, table in tables}
                if any(value is not None for value in values.values()):
                    yield key_value(key), values


@dataclass(frozen=True)
class WindowsPart:
    """Part that yields the contents of each key and window."""

    part: KeyedPart
    contents: StateView | None
    merging: StateView | None
    states: tuple[StateView, ...]

    def items(self) -> Iterator[WindowContents]:
        """Read it."""
        expiry = self.part.expiry
        with self.part.opened() as backend:
            contents = None if self.contents is None else self.contents.table(backend, expiry)
            merging = None if self.merging is None else self.merging.table(backend, expiry)
            states = {view.name: view.table(backend, expiry) for view in self.states}
            for key, namespace in _windows(contents, merging, states.values()):
                place = namespace if merging is None else (merging.get(key) or {}).get(namespace)
                held = None if contents is None or place is None else contents.get(key, place)
                kept = {name: value for name, table in states.items() if (value := table.get(key, namespace)) is not None}
                if held is not None or kept:
                    yield WindowContents(key_value(key), decode_window(namespace), held, kept)


def _windows(contents: KeyedTable | None, merging: KeyedTable | None, states: Any) -> dict[tuple[Any, Any], None]:
    """Return all pairs of key and window. Contents of merging windows are stored under another window than theirs."""
    found: dict[tuple[Any, Any], None] = {}
    if merging is not None:
        found.update(dict.fromkeys((key, namespace) for key, _, places in merging.items() for namespace in places))
    elif contents is not None:
        found.update(dict.fromkeys(contents.scan()))
    for table in states:
        found.update(dict.fromkeys((key, namespace) for key, namespace in table.scan() if namespace is not VOID))
    return found


@dataclass(frozen=True)
class TimersPart:
    """Part that yields the timers, earliest first."""

    part: KeyedPart

    def items(self) -> Iterator[KeyedTimer]:
        """Read it."""
        with self.part.opened() as backend:
            timers = [
                KeyedTimer(domain, timestamp, key_value(key), None if namespace is VOID else decode_window(namespace))
                for domain in ("event", "processing")
                for timestamp, key, namespace in backend.timers(domain).items()
            ]
        yield from sorted(timers, key=lambda timer: timer.timestamp)


@dataclass(frozen=True)
class FunctionPart:
    """Part that yields the rows of a user function for each key."""

    part: KeyedPart
    function: bytes
    schemas: dict[str, StateSchema]
    name: str
    uid: str | None
    location: str

    @staticmethod
    def pickled(function: KeyedStateReaderFunction[Any, Any]) -> bytes:
        """Return a pickled function, so that each part has its own instance."""
        return code_pickling.dumps(function)

    def items(self) -> Iterator[Any]:
        """Read it."""
        function: KeyedStateReaderFunction[Any, Any] = pickle.loads(self.function)
        expiry = self.part.expiry
        with self.part.opened() as backend:
            context = operator_context(
                backend,
                expiry.clock,
                operator_id="state-processor",
                name=self.name,
                uid=self.uid,
                max_parallelism=self.part.groups.max_parallelism,
                location=self.location,
            )
            guard, key_context = UserCode(context, NoOutput()), KeyContext()
            runtime_context = _ReaderContext(context, key_context, self.schemas, expiry, self.name)
            guard.open(function, runtime_context)
            try:
                yield from self._read(function, guard, key_context, runtime_context, backend)
            finally:
                guard.close(function)

    def _read(
        self,
        function: KeyedStateReaderFunction[Any, Any],
        guard: UserCode,
        key_context: KeyContext,
        runtime_context: _ReaderContext,
        backend: StateBackend,
    ) -> Iterator[Any]:
        timers = _KeyTimers(backend, key_context)
        keys = dict.fromkeys(chain.from_iterable(keys_with(descriptor, backend) for descriptor in runtime_context.asked_for.values()))
        for key in keys:
            key_context.key = key
            try:
                rows = list(function.read_key(key_value(key), timers) or ())
            except Exception as error:  # noqa: BLE001 - whatever a user's function raises is about its key
                failure = guard.failed(error, key)
                if failure is not None:
                    raise_failure(failure, error)
                rows = []
            key_context.key = NO_KEY
            yield from rows


class _ReaderContext(StreamingRuntimeContext):
    """Runtime context that returns states of the checkpoint and records the accessed ones."""

    def __init__(
        self, context: OperatorContext, key_context: KeyContext, schemas: dict[str, StateSchema], expiry: Expiry, operator: str
    ) -> None:
        super().__init__(context, key_context)
        self._schemas = schemas
        self._expiry = expiry
        self._operator = operator
        self.asked_for: dict[str, Any] = {}

    def _make(self, descriptor: Any) -> Any:
        schema = self._schemas.get(descriptor.name)
        if schema is None:
            raise StateMigrationError(
                f"{self._operator} has no keyed state {descriptor.name!r} in the checkpoint",
                hint=f"it has {', '.join(sorted(self._schemas)) or 'none'}",
            )
        ttl = time_to_live(schema, descriptor, self._expiry)
        seen = copy.copy(descriptor)
        # # The descriptor need not repeat the TTL, and its TTL must not hide values that are to be shown.
        seen.ttl_settings = lambda: ttl
        self.asked_for[descriptor.name] = seen
        return super()._make(seen)


class _KeyTimers(KeyedStateReaderFunction.Context):
    """Timers of the current key; sorted by key at the first access."""

    def __init__(self, backend: StateBackend, key_context: KeyContext) -> None:
        self._backend = backend
        self._key_context = key_context
        self._by_key: dict[str, dict[Any, list[int]]] = {}

    def registered_event_time_timers(self) -> list[int]:
        return self._of("event")

    def registered_processing_time_timers(self) -> list[int]:
        return self._of("processing")

    def _of(self, domain: str) -> list[int]:
        if domain not in self._by_key:
            by_key: dict[Any, list[int]] = {}
            for timestamp, key, namespace in self._backend.timers(domain).items():
                if namespace is VOID:
                    by_key.setdefault(key, []).append(timestamp)
            self._by_key[domain] = by_key
        return sorted(self._by_key[domain].get(self._key_context.key, ()))
