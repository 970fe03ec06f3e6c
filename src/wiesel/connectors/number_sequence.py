"""A bounded source of integers in order, for tests and simple jobs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from wiesel.connectors.index_ranges import IndexRange, IndexRangeEnumerator, even_ranges
from wiesel.connectors.split_list import SplitList
from wiesel.core.errors import ProgramError
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
from wiesel.types.typeinfo import BasicType, BasicTypeInfo, TypeInformation

__all__ = ["NumberSequenceSource"]

_CHUNK = 4096
"""Numbers emitted by one poll."""

_LONG_MIN, _LONG_MAX = -(2**63), 2**63 - 1


class NumberSequenceSource(Source[IndexRange]):
    """The numbers ``start`` to ``end``, inclusive.

    There is a sub-sequence per reader, each in order; with one reader the whole sequence is in order.

    Args:
        start: The first number.
        end: The last number.

    Raises:
        ProgramError: If ``start`` is above ``end`` or one of them is not a 64-bit number.
    """

    def __init__(self, start: int, end: int) -> None:
        given: list[tuple[str, object]] = [("start", start), ("end", end)]
        for name, value in given:
            if not isinstance(value, int) or not _LONG_MIN <= value <= _LONG_MAX:
                raise ProgramError(f"NumberSequenceSource: {name} is {value!r}", hint="give a whole number of at most 64 bits")
        if start > end:
            raise ProgramError(f"NumberSequenceSource({start}, {end}): 'from' must be <= 'to'", hint="swap the two numbers")
        self._start = start
        self._end = end

    @property
    def boundedness(self) -> Boundedness:
        """Return BOUNDED."""
        return Boundedness.BOUNDED

    @property
    def produced_type(self) -> TypeInformation:
        """Return ``Types.LONG()``."""
        return BasicTypeInfo(BasicType.LONG)

    def create_enumerator(self, context: SplitEnumeratorContext[IndexRange], state: Any | None = None) -> SplitEnumerator[IndexRange]:
        """Create the enumerator: one range per reader."""
        splits = even_ranges(self._start, self._end + 1, context.parallelism) if state is None else state
        return IndexRangeEnumerator(context, splits)

    def create_reader(self, context: SourceReaderContext) -> SourceReader[IndexRange]:
        """Create the reader of one subtask."""
        return _NumberReader(context)


class _NumberReader(SourceReader[IndexRange]):
    def __init__(self, context: SourceReaderContext) -> None:
        self._context = context
        self._splits: SplitList[IndexRange] = SplitList()
        self._no_more = False

    def start(self) -> None:
        if not self._splits:
            self._context.request_split()

    def poll(self, output: ReaderOutput) -> InputStatus:
        if not self._splits:
            return InputStatus.END_OF_INPUT if self._no_more else InputStatus.NOTHING_AVAILABLE
        before = self._splits.take()
        if before is None:
            return InputStatus.NOTHING_AVAILABLE
        numbers, split = before.take(min(_CHUNK, output.wanted))
        output.collect(list(numbers), None, split.split_id)
        if not split.finished:
            self._splits.put_back(split)
            return InputStatus.MORE_AVAILABLE
        output.split_finished(split.split_id)
        if not self._splits:
            self._context.request_split()
        return InputStatus.MORE_AVAILABLE if self._splits.readable else InputStatus.NOTHING_AVAILABLE

    def add_splits(self, splits: Sequence[IndexRange]) -> None:
        self._splits.add(splits)

    def pause_or_resume_splits(self, to_pause: Collection[str], to_resume: Collection[str]) -> None:
        self._splits.pause_or_resume(to_pause, to_resume)

    def notify_no_more_splits(self) -> None:
        self._no_more = True

    def snapshot_state(self, checkpoint_id: int) -> list[IndexRange]:
        return self._splits.all()
