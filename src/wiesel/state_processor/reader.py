"""Reader of the state of a retained checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from wiesel.core.argument_checks import describe, require_instance
from wiesel.core.user_location import program_error, user_location
from wiesel.runtime.windows.contents import CONTENTS
from wiesel.runtime.windows.layout import AGGREGATES, POSITIONS, SLICES, TABLES
from wiesel.runtime.windows.merging import MERGING_SET
from wiesel.spi.state import StateDescriptor
from wiesel.state.backend import StateFileReader, StateHandle
from wiesel.state.changelog import read_file
from wiesel.state.operator_state import OPERATOR_STATE, OperatorStateImage
from wiesel.state.schema import StateSchema
from wiesel.state_processor._arrow import Column
from wiesel.state_processor._checkpoint import StoredCheckpoint, schema_of, type_of, unknown_state
from wiesel.state_processor._keyed import (
    FunctionPart,
    KeyedTimer,
    StatesPart,
    StateView,
    TimersPart,
    WindowContents,
    WindowsPart,
)
from wiesel.state_processor._parts import Expiry, KeyedPart, keyed_parts
from wiesel.state_processor.functions import KeyedStateReaderFunction
from wiesel.state_processor.operators import OperatorIdentifier, OperatorOverview, named
from wiesel.state_processor.rows import StateRows
from wiesel.types.typeinfo import ListTypeInfo, MapTypeInfo, TypeInformation

__all__ = ["KeyedTimer", "SavepointReader", "WindowContents"]

_BACKENDS = ("hashmap", "lmdb", "rocksdb")

_Operator = OperatorIdentifier | str


class SavepointReader:
    """Reader of the state of a checkpoint; create it with :meth:`read`. It does not change the checkpoint.

    Identify operators by their uid, or by an :class:`OperatorIdentifier`.

    Raises:
        ProgramError: From all methods, if there is no such operator or state; the message lists the existing ones.
    """

    def __init__(self, stored: StoredCheckpoint, backend: str, expiry: Expiry) -> None:
        self._stored = stored
        self._backend = backend
        self._expiry = expiry

    @staticmethod
    def read(
        path: str, *, state_backend: str = "hashmap", now_ms: int | None = None, show_expired: bool = False, key: bytes | None = None
    ) -> SavepointReader:
        """Open a checkpoint of any state backend.

        The metadata is JSON. State is pickled, so reading it runs code of its author; see ``docs/security.md``.

        Args:
            path: Path of a checkpoint (``.../<job id>/chk-7``), or of a job, for its newest one.
            state_backend: Backend that holds state while it is read: ``hashmap`` (in memory, one subtask's state at a time) or ``lmdb`` (on
                disk, for subtasks with more state than memory).
            now_ms: Time (ms since the epoch) for the expiry of state with a TTL; now by default.
            show_expired: Whether to show expired values that are still stored.
            key: Key with which the checkpoint and all read files must be signed; None: the contents of the path are trusted.

        Raises:
            CorruptCheckpointError: If there is no checkpoint, or its metadata is incomplete or altered.
            UntrustedSnapshotError: If it is not signed with the key.
        """
        require_instance(path, str, "the path of a checkpoint", "give a path or URI, e.g. .../<job id>/chk-7")
        if state_backend not in _BACKENDS:
            raise program_error(f"state is read into {' or '.join(_BACKENDS)}, not {describe(state_backend)}", "choose one of them")
        return SavepointReader(StoredCheckpoint.load(path, key), state_backend, Expiry(now_ms, show_expired))

    # # Contents

    @property
    def path(self) -> str:
        """The path of the checkpoint."""
        return self._stored.path

    @property
    def checkpoint_id(self) -> int:
        """The number of the checkpoint."""
        return self._stored.checkpoint.checkpoint_id

    @property
    def timestamp_ms(self) -> int:
        """Time of the trigger of the checkpoint, in ms since the epoch."""
        return self._stored.checkpoint.timestamp_ms

    @property
    def job_name(self) -> str:
        """The name of the job."""
        return str(self._stored.facts.get("name", ""))

    def operators(self) -> list[OperatorOverview]:
        """Return all operators with the metadata of their states; no state is read."""
        return [self._stored.overview(operator, vertex) for operator, vertex in self._stored.operators()]

    def operator(self, operator: _Operator) -> OperatorOverview:
        """Return one operator, as :meth:`operators` does."""
        return self._stored.overview(*self._stored.find(operator))

    # Keyed state

    def keyed_state(
        self,
        operator: _Operator,
        states: Sequence[str | StateDescriptor] | str | StateDescriptor | KeyedStateReaderFunction[Any, Any] | None = None,
    ) -> StateRows[Any]:
        """Return the keyed state of an operator by key.

        Args:
            operator: The operator.
            states: Names of states, or descriptors (to read values of a changed type, or an aggregate's result instead of its accumulator);
                all states if it is None. Or a function that reads each key.

        Returns:
            Rows ``(key, {name: value})`` with all these names; the value is None where the key has none. Lists are lists, maps are dicts.
            With a function, the rows that it returns.
        """
        found, handles = self._keyed(operator)
        if isinstance(states, KeyedStateReaderFunction):
            return self._by_function(found, handles, states)
        chosen = tuple(self._views(found, handles, states))
        columns = [Column("key"), *(_column(view, taken={"key"}) for view in chosen)]
        names = [view.name for view in chosen]
        return StateRows(
            self._parts(handles, lambda part: StatesPart(part, chosen)),
            columns,
            lambda item: (item[0], *(item[1][name] for name in names)),
        )

    def _by_function(
        self, operator: dict[str, Any], handles: list[StateHandle], function: KeyedStateReaderFunction[Any, Any]
    ) -> StateRows[Any]:
        pickled, schemas = FunctionPart.pickled(function), dict(_schemas(handles))
        name, uid, location = operator["name"], operator.get("uid"), user_location()
        return StateRows(
            self._parts(handles, lambda part: FunctionPart(part, pickled, schemas, name, uid, location)),
            [Column("row")],
            lambda row: (row,),
        )

    def window_state(self, operator: _Operator) -> StateRows[WindowContents]:
        """Return the contents of a window operator by key and window; for windows that share slices, by key and slice.

        Read the state that a process window function keeps across windows of a key (``global_state()``) with :meth:`keyed_state`.
        """
        found, handles = self._keyed(operator)
        views = {name: StateView(name, schema) for name, schema in _schemas(handles)}
        name = next((name for name in (CONTENTS, SLICES) if name in views), None)
        if name is None:
            raise program_error(f"{named(found)} keeps no windows in the checkpoint", "keyed_state() reads other keyed state")
        contents, merging = views.pop(name), views.pop(MERGING_SET, None)
        others = tuple(view for name, view in views.items() if name not in (AGGREGATES, POSITIONS))
        columns = [
            Column("key"),
            Column("window"),
            _column(contents, "contents"),
            *(_column(view, taken=_WINDOW_COLUMNS) for view in others),
        ]
        return StateRows(
            self._parts(handles, lambda part: WindowsPart(part, contents, merging, others)),
            columns,
            lambda item: (item.key, item.window, item.contents, *(item.states.get(view.name) for view in others)),
        )

    def timers(self, operator: _Operator) -> StateRows[KeyedTimer]:
        """Return the timers of an operator, including those of its windows; earliest first within each old subtask."""
        _, handles = self._keyed(operator)
        columns = [Column("time_domain", pa.string()), Column("timestamp", pa.int64()), Column("key"), Column("window")]
        return StateRows(self._parts(handles, TimersPart), columns, tuple)

    def _keyed(self, operator: _Operator) -> tuple[dict[str, Any], list[StateHandle]]:
        found, _ = self._stored.find(operator)
        return found, self._stored.handles(found["id"])

    def _parts(self, handles: list[StateHandle], make: Callable[[KeyedPart], Any]) -> Callable[[int | None], list[Any]]:
        files, backend, expiry = self._stored.files, self._backend, self._expiry
        return lambda count: [make(part) for part in keyed_parts(handles, files, backend, expiry, count)]

    def _views(self, operator: dict[str, Any], handles: list[StateHandle], states: Any) -> Iterator[StateView]:
        known = {name: schema for name, schema in _schemas(handles) if name not in TABLES}
        wanted = known if states is None else [states] if isinstance(states, (str, StateDescriptor)) else states
        for state in wanted:
            name = state.name if isinstance(state, StateDescriptor) else state
            schema = schema_of(handles, name) if name in known else None
            if schema is None:
                raise unknown_state("keyed state", known, name, operator)
            yield StateView(name, schema, state if isinstance(state, StateDescriptor) else None)

    # Operator state

    def list_state(self, operator: _Operator, name: str) -> StateRows[Any]:
        """Return the entries of an operator list state, in the order of the subtasks."""
        return self._operator_rows(operator, name, "split", "operator list state")

    def union_state(self, operator: _Operator, name: str) -> StateRows[Any]:
        """Return the entries of a union list state: those of all subtasks, as each subtask gets them after a restore."""
        return self._operator_rows(operator, name, "union", "union list state")

    def broadcast_state(self, operator: _Operator, name: str) -> StateRows[tuple[Any, Any]]:
        """Return the entries (key, value) of a broadcast state of one subtask."""
        return self._operator_rows(operator, name, "broadcast", "broadcast state")

    def _operator_rows(self, operator: _Operator, name: str, kind: str, what: str) -> StateRows[Any]:
        found, _ = self._stored.find(operator)
        handles = [handle for handle in self._stored.handles(found["id"]) if handle.meta.get(OPERATOR_STATE)]
        holders = [handle for handle in handles if name in handle.meta[OPERATOR_STATE][kind]]
        if not holders:
            raise unknown_state(what, {known for handle in handles for known in handle.meta[OPERATOR_STATE][kind]}, name, found)
        declared = type_of(next((t for handle in holders if (t := handle.meta[OPERATOR_STATE]["types"].get(name)) is not None), None))
        files = self._stored.files
        if kind == "broadcast":
            holders = holders[:1]
        parts = [_OperatorPart(handle, files, kind, name) for handle in holders]
        return StateRows(lambda count: parts, _operator_columns(kind, declared), tuple if kind == "broadcast" else lambda value: (value,))


_WINDOW_COLUMNS = {"key", "window", "contents"}


@dataclass(frozen=True)
class _OperatorPart:
    """The operator state of one name in one old subtask."""

    handle: StateHandle
    files: StateFileReader
    kind: str
    name: str

    def items(self) -> Iterator[Any]:
        """Read it."""
        file = self.handle.files[-1]
        for section in read_file(self.files.read(file), file.name):
            contents = getattr(OperatorStateImage(*section.columns), self.kind)[self.name]
            yield from contents.items() if self.kind == "broadcast" else contents


def _schemas(handles: Iterable[StateHandle]) -> Iterator[tuple[str, StateSchema]]:
    found: dict[str, StateSchema] = {}
    for handle in handles:
        for name, data in handle.meta["states"].items():
            found.setdefault(name, StateSchema.from_json(data))
    yield from found.items()


def _column(view: StateView, name: str | None = None, taken: Iterable[str] = ()) -> Column:
    """Return the column of a state; use the state's kind as its name if its name is already taken."""
    given: TypeInformation | None = None if view.descriptor is None else view.descriptor.type_info
    if view.schema.kind == "aggregating" and view.descriptor is not None:
        given = None  # # The type is that of the accumulator, but the result is shown.
    elif given is None:
        given = type_of(view.schema.serializer)
    own = f"{view.name}_state" if view.name in taken else view.name
    return Column(own if name is None else name, given, is_map=view.schema.kind == "map")


def _operator_columns(kind: str, declared: Any) -> list[Column]:
    if kind == "broadcast":
        key, value = declared.children() if isinstance(declared, MapTypeInfo) else (None, None)
        return [Column("key", key), Column("value", value)]
    return [Column("value", declared.children()[0] if isinstance(declared, ListTypeInfo) else None)]
