"""A source written by the test while the job runs."""

from __future__ import annotations

import uuid
import weakref
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import cloudpickle

from wiesel.connectors.split_list import SplitList
from wiesel.core import code_pickling
from wiesel.core.argument_checks import describe, require_count
from wiesel.core.errors import ProgramError, SerializationError
from wiesel.core.ids import MIN_TIMESTAMP
from wiesel.core.user_location import program_error
from wiesel.graph.specs import StreamGraph
from wiesel.spi.source import (
    Boundedness,
    InputStatus,
    ReaderOutput,
    Source,
    SourceReader,
    SourceReaderContext,
    SplitEnumerator,
    SplitEnumeratorContext,
)
from wiesel.testing._inputs import checked_records, checked_timestamp
from wiesel.types.typeinfo import TypeInformation

__all__ = ["ManualSource"]

_RECORDS, _WATERMARK, _IDLE = "records", "watermark", "idle"
_SOON_MS, _A_DAY_MS = 10, 86_400_000


class _Split:
    """The contents of a split: (kind, contents) in order. Records are pickled, so that each read returns new objects."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, Any]] = []
        self.watermark = MIN_TIMESTAMP
        self.ended = False


_ALL: weakref.WeakValueDictionary[str, ManualSource] = weakref.WeakValueDictionary()
"""The sources of this process by name: the readers of a job look up the test's source."""


class ManualSource(Source["_ManualSplit"]):
    """A source for :func:`local_environment`, to which the test writes records, watermarks, idleness and the end.

    Its contents are retained: after a failure the job reads again from the position of its checkpoint, and a second job may read the same
    source from the beginning, or from a checkpoint of the first.

    ::

        clicks = ManualSource()
        stream = env.from_source(clicks, WatermarkStrategy.no_watermarks(), "clicks")
        with env.start() as job:
            clicks.push({"user": "ann"}, timestamp=1_000)
            clicks.advance_watermark(2_000)
            job.settle()

    Args:
        splits: Number of splits, like the partitions of a topic: each is read in order and has a separate watermark. They are distributed
            over the subtasks of the source; subtasks without splits finish immediately.
        bounded: The end advances event time to its maximum, which fires all windows and timers.
        type_info: The declared type of the records.
    """

    def __init__(self, splits: int = 1, *, bounded: bool = True, type_info: TypeInformation | None = None) -> None:
        self._name = f"manual-{uuid.uuid4().hex}"
        self._splits = [_Split() for _ in range(require_count(splits, "splits"))]
        self._bounded = bounded
        self._type_info = type_info
        _ALL[self._name] = self

    # Interface of tests

    def push(self, value: Any, timestamp: int | None = None, *, split: int = 0) -> None:
        """Write a record.

        Args:
            value: The record.
            timestamp: Its event time in ms, None for none; a timestamp assigner of the job may replace it.
            split: The split, counted from 0.

        Raises:
            SerializationError: It cannot be pickled.
        """
        self._push([value], None if timestamp is None else [timestamp], split)

    def push_all(self, values: Iterable[Any], timestamps: Iterable[int] | None = None, *, split: int = 0) -> None:
        """Write several records, which are read at once.

        Args:
            values: The records.
            timestamps: Their event times in ms, None if they have none.
            split: The split, counted from 0.

        Raises:
            SerializationError: If one cannot be pickled.
        """
        self._push(list(values), None if timestamps is None else list(timestamps), split)

    def _push(self, values: list[Any], timestamps: list[int] | None, split: int) -> None:
        checked_records(values, timestamps)
        for at in self._open(split):
            try:
                at.entries.append((_RECORDS, code_pickling.dumps((values, timestamps))))
            except Exception as error:
                raise SerializationError(
                    f"records pushed to a ManualSource cannot be pickled: {describe(values)}: {error}",
                    hint="push plain values, or make their class picklable",
                ) from error

    def advance_watermark(self, timestamp: int, *, split: int | None = None) -> None:
        """Write a watermark; for watermark strategies that generate none.

        Args:
            timestamp: The watermark in ms.
            split: The split, counted from 0; None for all.
        """
        checked_timestamp(timestamp, "a watermark")
        for at in self._open(split):
            if timestamp < at.watermark:
                raise program_error(f"the watermark cannot go back from {at.watermark} to {timestamp}", "watermarks only rise")
            at.watermark = timestamp
            at.entries.append((_WATERMARK, timestamp))

    def set_idle(self, *, split: int | None = None) -> None:
        """Declare splits idle until their next record or watermark.

        Args:
            split: The split, counted from 0; all if it is None.
        """
        for at in self._open(split):
            at.entries.append((_IDLE, None))

    def end(self, *, split: int | None = None) -> None:
        """End splits; when all have ended, the source has.

        Args:
            split: The split, counted from 0; None for all remaining ones.
        """
        for at in [s for s in self._splits if not s.ended] if split is None else self._open(split):
            at.ended = True

    @property
    def ended(self) -> bool:
        """Return whether all splits have ended."""
        return all(split.ended for split in self._splits)

    def _open(self, split: int | None) -> list[_Split]:
        if split is None:
            chosen = [s for s in self._splits if not s.ended] or self._splits
        else:
            chosen = [self._splits[require_count(split, "split", minimum=0, maximum=len(self._splits) - 1)]]
        if any(s.ended for s in chosen):
            raise program_error("the source has ended" if split is None else f"split {split} of the source has ended", "write before end()")
        return chosen

    # Interface of the engine

    @property
    def boundedness(self) -> Boundedness:
        """Return the configured boundedness."""
        return Boundedness.BOUNDED if self._bounded else Boundedness.CONTINUOUS_UNBOUNDED

    @property
    def produced_type(self) -> TypeInformation | None:
        """Return the declared type."""
        return self._type_info

    def create_enumerator(self, context: SplitEnumeratorContext[_ManualSplit], state: Any | None = None) -> SplitEnumerator[_ManualSplit]:
        """Create the enumerator."""
        return _Enumerator(context, [_ManualSplit(i) for i in range(len(self._splits))] if state is None else list(state))

    def create_reader(self, context: SourceReaderContext) -> SourceReader[_ManualSplit]:
        """Create the reader of one subtask."""
        return _Reader(self)

    def written(self, split: _ManualSplit) -> tuple[list[tuple[str, Any]], bool]:
        """Return the contents of a split, and whether it has ended."""
        at = self._splits[split.number]
        return at.entries, at.ended

    def __reduce__(self) -> tuple[Any, ...]:
        # The tasks of the local engine get pickled copies, which have to resolve to this object.
        return _find, (self._name,)


def _find(name: str) -> ManualSource:
    found = _ALL.get(name)
    if found is None:
        raise ProgramError(
            "a ManualSource works in the process of its test only, and while the test holds it",
            hint="run the job with local_environment(), and keep the source in a variable",
        )
    return found


def manual_sources(graph: StreamGraph) -> dict[str, ManualSource]:
    """Internal. Return the manual sources of a graph by the names of their nodes."""
    given = {node.name: node.operator.payload.get("source") for node in graph.nodes.values() if node.is_source}
    return {name: source for name, source in given.items() if isinstance(source, ManualSource)}


@dataclass(frozen=True)
class _ManualSplit:
    """A split; its contents before ``position`` have been read."""

    number: int
    position: int = 0

    @property
    def split_id(self) -> str:
        return f"split-{self.number}"


class _Enumerator(SplitEnumerator[_ManualSplit]):
    def __init__(self, context: SplitEnumeratorContext[_ManualSplit], splits: list[_ManualSplit]) -> None:
        self._context = context
        self._splits = splits

    def add_reader(self, subtask: int) -> None:
        mine = [s for s in self._splits if s.number % self._context.parallelism == subtask]
        self._splits = [s for s in self._splits if s not in mine]
        if mine:
            self._context.assign_splits({subtask: mine})
        self._context.signal_no_more_splits(subtask)

    def snapshot_state(self, checkpoint_id: int) -> list[_ManualSplit]:
        return list(self._splits)


class _Reader(SourceReader[_ManualSplit]):
    """Reads one entry per poll, from its splits round-robin."""

    splits_hold_watermarks = True

    def __init__(self, source: ManualSource) -> None:
        self._source = source
        self._splits: SplitList[_ManualSplit] = SplitList()
        self._complete = False

    @property
    def poll_interval_ms(self) -> int:  # type: ignore[override]
        # Writers trigger another poll; so time may pass in large steps.
        return _A_DAY_MS if self._splits else _SOON_MS

    def add_splits(self, splits: Sequence[_ManualSplit]) -> None:
        self._splits.add(splits)

    def pause_or_resume_splits(self, to_pause: Collection[str], to_resume: Collection[str]) -> None:
        self._splits.pause_or_resume(to_pause, to_resume)

    def notify_no_more_splits(self) -> None:
        self._complete = True

    def poll(self, output: ReaderOutput) -> InputStatus:
        for _ in range(len(self._splits)):
            split = self._splits.take()
            if split is None:
                break
            entries, ended = self._source.written(split)
            if split.position < len(entries):
                self._emit(entries[split.position], split.split_id, output)
                self._splits.put_back(replace(split, position=split.position + 1), last=True)
                break
            if ended:
                output.split_finished(split.split_id)
            else:
                self._splits.put_back(split, last=True)
        if self._complete and not self._splits:
            return InputStatus.END_OF_INPUT
        return InputStatus.MORE_AVAILABLE if any(self._has_more(s) for s in self._splits.unpaused()) else InputStatus.NOTHING_AVAILABLE

    def _has_more(self, split: _ManualSplit) -> bool:
        entries, ended = self._source.written(split)
        return ended or split.position < len(entries)

    def _emit(self, entry: tuple[str, Any], split_id: str, output: ReaderOutput) -> None:
        kind, contents = entry
        if kind == _RECORDS:
            values, timestamps = cloudpickle.loads(contents)
            output.collect(values, timestamps, split_id)
        elif kind == _WATERMARK:
            output.emit_watermark(contents, split_id)
        else:
            output.mark_idle(split_id)

    def snapshot_state(self, checkpoint_id: int) -> list[_ManualSplit]:
        # By number: the restored state does not depend on the round-robin position.
        return sorted(self._splits.all(), key=lambda split: split.number)
