"""Internal. Split readers: the blocking clients of sources, called in threads of their own (Flink: ``SplitReader``, FLIP-27)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeAlias

from wiesel.core.errors import ProgramError
from wiesel.spi.source.split import SplitT

if TYPE_CHECKING:
    # Programs without tables do not load Arrow.
    import pyarrow as pa

    from wiesel.columnar.row_batch import RowBatch

__all__ = ["FetchedRecords", "RecordsBySplits", "SplitReader", "SplitRecords"]

FetchedRecords: TypeAlias = "list[Any] | pa.RecordBatch | RowBatch"
"""A list of records, or the rows of a table as columns."""


@dataclass(frozen=True)
class SplitRecords:
    """Records of one split, in order.

    Attributes:
        split_id: The split.
        records: A list of records, or a ``pyarrow.RecordBatch`` for the source of a table. It belongs to the engine from now on.
        position: The position behind the last record; None leaves the position of the split as it is.
        timestamps: Event times in ms since the epoch, one per record of a list, or None.
        positions: The position behind each record, for records that can be emitted in parts. Without them all are emitted at once,
            and the next checkpoint waits until the functions behind the source have processed them.

    Raises:
        ProgramError: Timestamps or positions are not as many as the records, or are given for columns.
    """

    split_id: str
    records: FetchedRecords
    position: Any = None
    timestamps: list[int] | None = None
    positions: Sequence[Any] | None = None

    def __post_init__(self) -> None:
        for name, given in (("timestamps", self.timestamps), ("positions", self.positions)):
            if given is not None and not (isinstance(self.records, list) and len(given) == len(self.records)):
                count = f"{len(self.records)} records" if isinstance(self.records, list) else "columns"
                hint = f"give as many {name} as there are records in the list, or None"
                raise ProgramError(f"split {self.split_id!r}: {len(given)} {name} for {count}", hint=hint)


@dataclass(frozen=True)
class RecordsBySplits:
    """The result of one fetch.

    Attributes:
        records: Records of some splits; those of one split in their order.
        finished_splits: Ids of splits that are read to their end with these records.
    """

    records: Sequence[SplitRecords] = ()
    finished_splits: Collection[str] = ()


class SplitReader(ABC, Generic[SplitT]):
    """Reads splits with a client that may block.

    All methods are called from one thread, the fetcher thread, except :meth:`wake_up`. The constructor is called in the task's thread:
    connect in :meth:`open`.
    """

    def open(self) -> None:
        """Connect. Called once, before the first split is added; may block."""

    @abstractmethod
    def fetch(self) -> RecordsBySplits | None:
        """Return the next records, or None if there are none for now.

        It may block until there are records, and it may return early without any. It is called while there is room for its result and
        a split that is not paused. After a fetch without a result the next one waits for some milliseconds.
        """

    @abstractmethod
    def handle_splits_changes(self, additions: Sequence[SplitT], removals: Sequence[str]) -> None:
        """Read further splits from their positions, and read those with the ids in ``removals`` no longer."""

    @abstractmethod
    def wake_up(self) -> None:
        """Make a fetch that blocks return soon. Called from another thread; must not block.

        The fetch may just be about to begin, so it has to return early as well. A wake-up without a cause may come at any time.
        """

    def pause_or_resume_splits(self, to_pause: Collection[str], to_resume: Collection[str]) -> None:
        """Fetch nothing of some splits until they are resumed (alignment of watermarks, rate limits). Ids of splits.

        Without it the splits of a reader cannot be paused singly, unless each has a thread of its own.
        """
        raise NotImplementedError(f"{type(self).__name__} cannot pause single splits")

    def close(self) -> None:
        """Disconnect. Called once, also after a failure, and by the thread that fetches."""
