"""Generated records: a user function creates each from its index, at a limited rate.

>>> source = DataGeneratorSource(lambda i: f"event {i}", 1_000, RateLimiterStrategy.per_second(100), Types.STRING())
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from typing import Any

from wiesel.connectors.index_ranges import IndexRange, IndexRangeEnumerator, even_ranges, interleaved_ranges
from wiesel.connectors.split_list import SplitList
from wiesel.core.errors import ProgramError, UserFunctionError
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
from wiesel.types.typeinfo import TypeInformation

__all__ = ["BatchGeneratorFunction", "DataGeneratorSource", "GeneratorFunction", "RateLimiter", "RateLimiterStrategy"]

_CHUNK = 2048
"""Records made by one poll."""

_LONGEST_WAIT_MS = 1_000


class GeneratorFunction(ABC):
    """Generates records; one copy per reader, used by one thread."""

    def open(self, context: SourceReaderContext) -> None:
        """Prepare; called once before the first record."""

    @abstractmethod
    def map(self, index: int) -> Any:
        """Return the record of an index. The same index must give the same record, or a restart changes earlier output."""

    def close(self) -> None:
        """Release resources."""


class BatchGeneratorFunction(GeneratorFunction):
    """Generates many records at once, where that is cheaper."""

    @abstractmethod
    def map_all(self, indexes: range) -> list[Any]:
        """Return the records of some indexes, in their order."""

    def map(self, index: int) -> Any:
        """Return the record of an index."""
        return self.map_all(range(index, index + 1))[0]


class RateLimiter(ABC):
    """Limits how many records a reader may emit. Never waits: time and completed checkpoints are passed in."""

    @abstractmethod
    def permits(self, now_ms: int, wanted: int) -> int:
        """Acquire at most ``wanted`` permits; 0 means to retry later."""

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """A checkpoint is complete."""

    @property
    def poll_interval_ms(self) -> int:
        """Delay (ms) of a reader without a permit."""
        return 10


class _Unlimited(RateLimiter):
    def permits(self, now_ms: int, wanted: int) -> int:
        return wanted


class _PerSecond(RateLimiter):
    """A token bucket that fills at the rate up to the permits of one second, so that a short pause is compensated."""

    def __init__(self, per_second: float) -> None:
        self._per_ms = per_second / 1e3
        self._capacity = max(1.0, per_second)
        self._stored = 1.0
        self._at_ms: int | None = None

    def permits(self, now_ms: int, wanted: int) -> int:
        if self._at_ms is not None and now_ms > self._at_ms:
            self._stored = min(self._capacity, self._stored + (now_ms - self._at_ms) * self._per_ms)
        self._at_ms = now_ms if self._at_ms is None else max(now_ms, self._at_ms)
        given = min(wanted, int(self._stored + 1e-9))
        self._stored -= given
        return given

    @property
    def poll_interval_ms(self) -> int:
        return max(1, min(_LONGEST_WAIT_MS, math.ceil((1 - self._stored) / self._per_ms)))


class _PerCheckpoint(RateLimiter):
    def __init__(self, per_checkpoint: int) -> None:
        self._per_checkpoint = self._left = per_checkpoint

    def permits(self, now_ms: int, wanted: int) -> int:
        given = min(wanted, self._left)
        self._left -= given
        return given

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        self._left = self._per_checkpoint


class RateLimiterStrategy(ABC):
    """Creates the rate limiter of each reader. The limits apply to all readers together."""

    @abstractmethod
    def create_rate_limiter(self, parallelism: int, subtask_index: int = 0) -> RateLimiter:
        """Return the limiter of one of ``parallelism`` readers."""

    @staticmethod
    def no_op() -> RateLimiterStrategy:
        """No limit."""
        return _Strategy(lambda parallelism, subtask: _Unlimited())

    @staticmethod
    def per_second(records_per_second: float) -> RateLimiterStrategy:
        """Limit the number of records per second.

        Raises:
            ProgramError: If the rate is not positive.
        """
        if not records_per_second > 0:
            raise ProgramError(f"RateLimiterStrategy.per_second({records_per_second})", hint="give a positive number of records")
        return _Strategy(lambda parallelism, subtask: _PerSecond(records_per_second / parallelism))

    @staticmethod
    def per_checkpoint(records_per_checkpoint: int) -> RateLimiterStrategy:
        """Emit a number of records, then none until the next checkpoint is complete.

        Raises:
            ProgramError: If the number is not positive.
        """
        if records_per_checkpoint <= 0:
            raise ProgramError(f"RateLimiterStrategy.per_checkpoint({records_per_checkpoint})", hint="give a positive number of records")
        # The first readers get the remainder; with fewer records than readers some emit none.
        return _Strategy(
            lambda parallelism, subtask: _PerCheckpoint(
                records_per_checkpoint // parallelism + (1 if subtask < records_per_checkpoint % parallelism else 0)
            )
        )


class _Strategy(RateLimiterStrategy):
    def __init__(self, create: Callable[[int, int], RateLimiter]) -> None:
        self._create = create

    def create_rate_limiter(self, parallelism: int, subtask_index: int = 0) -> RateLimiter:
        return self._create(parallelism, subtask_index)


class DataGeneratorSource(Source[IndexRange]):
    """Records generated from the indexes 0, 1, 2, ...

    A bounded source gives each reader a range of the indexes; an unbounded one distributes them round-robin, so that the indexes of all
    readers advance together (see :meth:`first_splits`).

    Args:
        generator_function: Creates the record of an index: a callable or a :class:`GeneratorFunction`. The same index must give the same
            record: after a failure records are generated again.
        count: Number of records; None for unbounded.
        rate_limiter_strategy: Rate limit; None for none.
        type_info: The type of the records.

    Raises:
        ProgramError: If the function cannot be called or the count is negative.
    """

    def __init__(
        self,
        generator_function: Callable[[int], Any] | GeneratorFunction,
        count: int | None = None,
        rate_limiter_strategy: RateLimiterStrategy | None = None,
        type_info: TypeInformation | None = None,
    ) -> None:
        if not isinstance(generator_function, GeneratorFunction) and not callable(generator_function):
            raise ProgramError(
                f"DataGeneratorSource: {generator_function!r} is not a function", hint="give a function from an index to a record"
            )
        given: object = count
        if given is not None and (not isinstance(given, int) or given < 0):
            raise ProgramError(f"DataGeneratorSource: count is {count!r}", hint="give a number of records, or None for an endless source")
        self._function = generator_function
        self._count = count
        self._strategy = rate_limiter_strategy or RateLimiterStrategy.no_op()
        self._type_info = type_info

    @property
    def boundedness(self) -> Boundedness:
        """Return BOUNDED if there is a count, else CONTINUOUS_UNBOUNDED."""
        return Boundedness.CONTINUOUS_UNBOUNDED if self._count is None else Boundedness.BOUNDED

    @property
    def produced_type(self) -> TypeInformation | None:
        """Return the declared type."""
        return self._type_info

    def create_enumerator(self, context: SplitEnumeratorContext[IndexRange], state: Any | None = None) -> SplitEnumerator[IndexRange]:
        """Create the enumerator: one range per reader."""
        return IndexRangeEnumerator(context, self.first_splits(context.parallelism) if state is None else state)

    def first_splits(self, parallelism: int) -> list[IndexRange]:
        """Return the first index range of each reader."""
        return interleaved_ranges(parallelism) if self._count is None else even_ranges(0, self._count, parallelism)

    def create_reader(self, context: SourceReaderContext) -> SourceReader[IndexRange]:
        """Create the reader of one subtask."""
        limiter = self._strategy.create_rate_limiter(context.parallelism, context.subtask_index)
        return _GeneratorReader(context, self._function, limiter)


class _GeneratorReader(SourceReader[IndexRange]):
    """Reads its ranges round-robin, a chunk of each: unbounded ones must all advance."""

    def __init__(self, context: SourceReaderContext, function: Callable[[int], Any] | GeneratorFunction, limiter: RateLimiter) -> None:
        self._context = context
        self._function = function
        self._make: Callable[[int], Any] = function.map if isinstance(function, GeneratorFunction) else function
        self._limiter = limiter
        self._splits: SplitList[IndexRange] = SplitList()
        self._no_more = False

    @property
    def poll_interval_ms(self) -> int:  # type: ignore[override]
        return self._limiter.poll_interval_ms if self._splits else SourceReader.poll_interval_ms

    def start(self) -> None:
        if isinstance(self._function, GeneratorFunction):
            self._function.open(self._context)
        if not self._splits:
            self._context.request_split()

    def poll(self, output: ReaderOutput) -> InputStatus:
        if not self._splits:
            return InputStatus.END_OF_INPUT if self._no_more else InputStatus.NOTHING_AVAILABLE
        before = self._splits.take()
        if before is None:
            return InputStatus.NOTHING_AVAILABLE
        permits = self._limiter.permits(self._context.now_ms(), min(_CHUNK, output.wanted))
        if permits == 0:
            self._splits.put_back(before)
            return InputStatus.NOTHING_AVAILABLE
        indexes, split = before.take(permits)
        output.collect(self._generate(indexes), None, split.split_id)
        if not split.finished:
            self._splits.put_back(split, last=True)
            return InputStatus.MORE_AVAILABLE
        output.split_finished(split.split_id)
        if not self._splits:
            self._context.request_split()
        return InputStatus.MORE_AVAILABLE if self._splits.readable else InputStatus.NOTHING_AVAILABLE

    def _generate(self, indexes: range) -> list[Any]:
        if isinstance(self._function, BatchGeneratorFunction):
            return self._function.map_all(indexes)
        values: list[Any] = []
        try:
            # extend retains the records before a failure, whose number is the failing index.
            values.extend(map(self._make, indexes))
        except Exception as error:
            index = indexes[len(values)]
            raise UserFunctionError(
                f"the generator function raised {type(error).__name__} for index {index}: {error}",
                hint="the function must give a record for every index",
                record=str(index),
            ) from error
        return values

    def add_splits(self, splits: Sequence[IndexRange]) -> None:
        self._splits.add(splits)

    def pause_or_resume_splits(self, to_pause: Collection[str], to_resume: Collection[str]) -> None:
        self._splits.pause_or_resume(to_pause, to_resume)

    def notify_no_more_splits(self) -> None:
        self._no_more = True

    def snapshot_state(self, checkpoint_id: int) -> list[IndexRange]:
        return self._splits.all()

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        self._limiter.notify_checkpoint_complete(checkpoint_id)

    def close(self) -> None:
        if isinstance(self._function, GeneratorFunction):
            self._function.close()
