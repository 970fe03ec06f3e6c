"""Internal. The interface of a state backend, as used by the operators of a task.

One backend instance belongs to one operator of one subtask and is used from the task's mailbox thread only. All state of a subtask is in
three kinds of containers: keyed tables, timer queues and operator state. The backend tracks changes since the last snapshot, so that the
cost of a checkpoint is proportional to them.

A snapshot has two parts. ``snapshot`` is the synchronous part, run in the mailbox thread between two batches; it must not do I/O. It
returns a :class:`SnapshotTask`, whose ``run`` writes the bytes (in any thread) and returns the handle for the acknowledgement. If ``run``
fails, ``snapshot_failed`` is called, and the backend includes those changes in the next snapshot.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import pyarrow as pa

    from wiesel.state.keyed_rows import GrownRows, ReplacedRows

VOID = None
"""The namespace of state that has none (windows use the window as namespace)."""


@dataclass(frozen=True)
class KeyGroupRange:
    """The key groups ``start <= g < end`` of ``max_parallelism`` that a subtask owns."""

    start: int
    end: int
    max_parallelism: int


@dataclass(frozen=True)
class StateFile:
    """An immutable file of a checkpoint: name below the checkpoint root, bytes, crc32 of the contents; or the contents inline.

    ``sha256``: of the contents, which the signature of the metadata covers; None for inline contents, and if an older version wrote it.
    """

    name: str
    size: int
    crc32: int
    inline: bytes | None = None
    sha256: str | None = None


@dataclass(frozen=True)
class StateHandle:
    """Data needed to restore one operator's state in one subtask.

    ``files`` in the order in which they are to be applied; ``start``/``end`` of the key groups that they hold; ``meta`` is
    JSON-able: kind of backend, format version and per state name its kind and serializer snapshots.
    """

    files: tuple[StateFile, ...]
    key_group_start: int
    key_group_end: int
    meta: dict[str, Any] = field(default_factory=dict)


class StateFileWriter(Protocol):
    """Stores the bytes of a state file; durable when the call returns."""

    def write(self, name_hint: str, data: Sequence[bytes | memoryview]) -> StateFile:
        """Write the parts under a new, unique name derived from ``name_hint``; small contents may be stored inline."""
        ...


class StateFileReader(Protocol):
    """Reads state files back and checks size and crc32."""

    def read(self, file: StateFile) -> bytes:
        """Return the contents.

        Raises:
            CorruptCheckpointError: if the file is missing, torn or altered.
        """
        ...


class SnapshotTask(Protocol):
    """The asynchronous part of a snapshot."""

    def run(self, writer: StateFileWriter) -> StateHandle:
        """Write the snapshot and return the handle. Called once, from any thread."""
        ...


class KeyedTable(ABC):
    """Entries (key, namespace) -> value of one state name.

    A value read may be changed in place only if ``put`` is called with it afterwards (that marks it as changed).
    """

    @abstractmethod
    def get(self, key: Any, namespace: Any = VOID) -> Any:
        """Return the value, or None."""

    @abstractmethod
    def put(self, key: Any, value: Any, namespace: Any = VOID) -> None:
        """Set the value (not None)."""

    @abstractmethod
    def remove(self, key: Any, namespace: Any = VOID) -> None:
        """Remove the entry if there is one."""

    @abstractmethod
    def items(self) -> Iterator[tuple[Any, Any, Any]]:
        """Iterate over (key, namespace, value) of all keys. Entries added during the iteration may be left out."""

    @abstractmethod
    def scan(self) -> Iterator[tuple[Any, Any]]:
        """Iterate lazily over (key, namespace) of all entries. An entry may occur twice, or after its removal."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of entries (possibly an estimate where counting is expensive)."""


class ListTable(KeyedTable):
    """A table of lists. ``get`` returns the list, which the caller must not change; ``put`` takes ownership of the list."""

    @abstractmethod
    def append(self, key: Any, value: Any, namespace: Any = VOID) -> None:
        """Append an element. The amount written to a snapshot does not depend on the length of the list."""

    @abstractmethod
    def extend(self, key: Any, values: Iterable[Any], namespace: Any = VOID) -> None:
        """Append several elements."""


class MapTable(KeyedTable):
    """A table of maps with access to single entries. A map without entries does not exist.

    ``get`` returns the whole map (the caller must not change it); ``put`` takes ownership of a whole map.
    """

    @abstractmethod
    def get_entry(self, key: Any, map_key: Any, namespace: Any = VOID) -> Any:
        """Return the value of one entry, or None."""

    @abstractmethod
    def put_entry(self, key: Any, map_key: Any, value: Any, namespace: Any = VOID) -> None:
        """Set one entry. The amount written to a snapshot does not depend on the size of the map. The value may be None."""

    def put_entries(self, key: Any, entries: Mapping[Any, Any], namespace: Any = VOID) -> None:
        """Set several entries (at least one), as ``put_entry`` does each."""
        for map_key, value in entries.items():
            self.put_entry(key, map_key, value, namespace)

    @abstractmethod
    def remove_entry(self, key: Any, map_key: Any, namespace: Any = VOID) -> None:
        """Remove one entry if there is one."""

    @abstractmethod
    def entries(self, key: Any, namespace: Any = VOID) -> Iterator[tuple[Any, Any]]:
        """Iterate over (map key, value); the map may be changed meanwhile, without effect on the iteration."""

    @abstractmethod
    def has_entries(self, key: Any, namespace: Any = VOID) -> bool:
        """Return whether there is any entry."""


class TimerQueue(ABC):
    """Timers (timestamp, key, namespace), each at most once, in the order of their timestamps."""

    @abstractmethod
    def register(self, timestamp: int, key: Any, namespace: Any = VOID) -> None:
        """Add a timer; adding it again has no effect."""

    @abstractmethod
    def delete(self, timestamp: int, key: Any, namespace: Any = VOID) -> None:
        """Remove a timer if it exists."""

    @abstractmethod
    def next_timestamp(self) -> int | None:
        """Return the earliest timestamp, or None."""

    @abstractmethod
    def pop_until(self, timestamp: int) -> Iterator[tuple[int, Any, Any]]:
        """Remove and yield one by one the timers with a timestamp <= ``timestamp``, earliest first.

        Timers registered or deleted while iterating are honoured, as in Flink's ``advanceWatermark`` loop.
        """

    @abstractmethod
    def items(self) -> Iterator[tuple[int, Any, Any]]:
        """Iterate over (timestamp, key, namespace) of all timers, unordered. The queue must not be changed meanwhile."""

    @abstractmethod
    def quiesced(self, ignored: Callable[[int], None]) -> AbstractContextManager[None]:
        """Return a context within which ``register`` only calls ``ignored`` with the timestamp."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of timers."""


class OperatorStateStore(ABC):
    """Operator state of the subtask: lists that are split or merged when rescaled, and broadcast maps.

    ``serializer``: that of the declared type of the whole list or map, or None. Restored values are converted to the declared type. All
    methods that return state raise ``StateMigrationError`` if the name belongs to state of another kind or type.
    """

    @abstractmethod
    def get_list(self, name: str, serializer: Any = None) -> list[Any]:
        """Return the live list; the next snapshot includes changes made in place. Entries are redistributed evenly when rescaled."""

    @abstractmethod
    def get_union_list(self, name: str, serializer: Any = None) -> list[Any]:
        """Return the live list, as ``get_list``; every subtask gets all entries at a restore."""

    @abstractmethod
    def get_broadcast(self, name: str, serializer: Any = None) -> dict[Any, Any]:
        """Return the live map; the same on all subtasks."""

    @abstractmethod
    def rename(self, old: str, new: str) -> None:
        """Rename restored state, if ``old`` was restored and ``new`` does not exist."""

    @abstractmethod
    def list_names(self) -> set[str]:
        """Return the names of all lists, including restored ones that were not accessed."""

    @abstractmethod
    def broadcast_names(self) -> set[str]:
        """Return the names of all broadcast maps, including restored ones that were not accessed."""


class StateBackend(ABC):
    """State of one operator in one subtask."""

    @property
    def in_memory(self) -> bool:
        """True if entries are stored as objects in the memory of the process, so that operators may cache them in another form."""
        return False

    @abstractmethod
    def table(
        self, name: str, *, serializer: Any = None, ttl: Any = None, kind: str = "value", aliases: Sequence[str] = ()
    ) -> KeyedTable:
        """Return the table of a state name, restored if it was in the snapshot. The same name gives the same table.

        Args:
            name: Name of the state.
            serializer: Serializer of the declared type of the values (elements of lists, values of maps), or None.
            ttl: ``TtlSettings``, or None.
            kind: ``value``, ``reducing`` or ``aggregating`` (a :class:`KeyedTable`), ``list`` (a :class:`ListTable`) or ``map``
                (a :class:`MapTable`).
            aliases: Earlier names of the state, under which it may have been restored. Given only if there are some.

        Raises:
            StateMigrationError: the restored entries were written by a serializer or for a kind that does not fit.
        """

    def grown_rows(self, name: str, schema: pa.Schema, keys: Sequence[int]) -> GrownRows | None:
        """Return append-only lists of rows by key, stored as columns; None if the backend does not store columns.

        In state files the contents are those of a table of kind ``list`` with tuples by the tuples of their keys.

        Args:
            name: Name of the state.
            schema: The columns of the rows.
            keys: Indexes of the key columns.
        """
        return None

    def replaced_rows(self, name: str, schema: pa.Schema, keys: Sequence[int]) -> ReplacedRows | None:
        """Return lists of rows by key that are replaced as a whole; in state files they are a table of kind ``value``."""
        return None

    @abstractmethod
    def timers(self, name: str) -> TimerQueue:
        """Return the timer queue of that name (``event``, ``processing``)."""

    @property
    @abstractmethod
    def operator_state(self) -> OperatorStateStore:
        """Return the operator state."""

    @abstractmethod
    def restore(self, handles: Iterable[StateHandle], reader: StateFileReader) -> None:
        """Load state; called once before any other method. Entries of other key groups are ignored.

        Args:
            handles: The handles of all subtasks that the operator had when the snapshot was taken, as operator state is redistributed when
                the parallelism has changed. Files without entries for this subtask are not read.
            reader: Reads the files.

        Raises:
            CorruptCheckpointError: A file is missing or altered.
            StateMigrationError: The state does not fit the program.
        """

    @abstractmethod
    def snapshot(self, checkpoint_id: int, *, full: bool = False) -> SnapshotTask:
        """Take the synchronous part of a snapshot.

        Args:
            checkpoint_id: Id of the checkpoint.
            full: Write all state to files that no later checkpoint depends on (savepoints).

        A snapshot refers to files of earlier snapshots, including aborted ones. So a file may be deleted only when a checkpoint later than
        the one that wrote it is complete and no retained checkpoint refers to the file.
        """

    @abstractmethod
    def snapshot_failed(self, checkpoint_id: int) -> None:
        """Include the changes of that snapshot in the next one, as its asynchronous part failed."""

    @abstractmethod
    def size_bytes(self) -> int:
        """Return an estimate of the state's size."""

    @abstractmethod
    def close(self) -> None:
        """Release memory and local files."""
