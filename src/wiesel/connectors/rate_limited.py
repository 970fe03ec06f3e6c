"""A wrapper that limits the rate of any source."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from wiesel.connectors.datagen.source import RateLimiter, RateLimiterStrategy
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
from wiesel.types.typeinfo import TypeInformation
from wiesel.wire.batch import Batch

__all__ = ["RateLimitedSource"]


class RateLimitedSource(Source[Any]):
    """Another source with a rate limit.

    A reader emits what it reads at once (such as a block of a file) and then waits until as many records are allowed, so the rate is an
    average over that. Checkpoints are those of the other source: the limit may be changed, or removed, when a job is restored.

    Args:
        source: The source.
        rate_limiter_strategy: The rate limit of all readers together.
        per_split: Apply the rate to each split instead. The readers of the source must be able to pause single splits.

    Raises:
        ProgramError: If an argument is of another type.
    """

    def __init__(self, source: Source[Any], rate_limiter_strategy: RateLimiterStrategy, *, per_split: bool = False) -> None:
        given: tuple[object, object] = source, rate_limiter_strategy
        if not isinstance(given[0], Source) or not isinstance(given[1], RateLimiterStrategy):
            raise ProgramError(
                f"RateLimitedSource({source!r}, {rate_limiter_strategy!r})",
                hint="give a source and a strategy, such as RateLimiterStrategy.per_second(100)",
            )
        self._source = source
        self._strategy = rate_limiter_strategy
        self._per_split = per_split

    @property
    def boundedness(self) -> Boundedness:
        """Return that of the source."""
        return self._source.boundedness

    @property
    def produced_type(self) -> TypeInformation | None:
        """Return that of the source."""
        return self._source.produced_type

    def create_enumerator(self, context: SplitEnumeratorContext[Any], state: Any | None = None) -> SplitEnumerator[Any]:
        """Create the enumerator of the source."""
        return self._source.create_enumerator(context, state)

    def create_reader(self, context: SourceReaderContext) -> SourceReader[Any]:
        """Create a reader of the source that waits."""
        if self._per_split:
            return _SplitLimitedReader(self._source.create_reader(context), self._strategy, context)
        limiter = self._strategy.create_rate_limiter(context.parallelism, context.subtask_index)
        return _LimitedReader(self._source.create_reader(context), limiter, context)


class _Permits:
    """A limiter, and how many records were emitted before it has allowed them (``ahead``)."""

    def __init__(self, limiter: RateLimiter) -> None:
        self.limiter = limiter
        self.ahead = 0

    def catches_up(self, now_ms: int) -> bool:
        """Take permits; return whether more are needed."""
        if self.ahead:
            self.ahead -= self.limiter.permits(now_ms, self.ahead)
        return self.ahead > 0


class _Wrapper(SourceReader[Any]):
    """A reader that does all that another one does."""

    def __init__(self, reader: SourceReader[Any], context: SourceReaderContext) -> None:
        self._reader = reader
        self._context = context
        self.splits_hold_watermarks = reader.splits_hold_watermarks

    def start(self) -> None:
        self._reader.start()

    def add_splits(self, splits: Sequence[Any]) -> None:
        self._reader.add_splits(splits)

    def notify_no_more_splits(self) -> None:
        self._reader.notify_no_more_splits()

    def handle_source_event(self, event: Any) -> None:
        self._reader.handle_source_event(event)

    def snapshot_state(self, checkpoint_id: int) -> list[Any]:
        return self._reader.snapshot_state(checkpoint_id)

    def pause_or_resume_splits(self, to_pause: Collection[str], to_resume: Collection[str]) -> None:
        self._reader.pause_or_resume_splits(to_pause, to_resume)

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        self._reader.notify_checkpoint_complete(checkpoint_id)

    def close(self) -> None:
        self._reader.close()


class _LimitedReader(_Wrapper):
    """Reads at a rate that all splits share."""

    def __init__(self, reader: SourceReader[Any], limiter: RateLimiter, context: SourceReaderContext) -> None:
        super().__init__(reader, context)
        self._permits = _Permits(limiter)

    @property
    def poll_interval_ms(self) -> int:  # type: ignore[override]
        return self._permits.limiter.poll_interval_ms if self._permits.ahead else self._reader.poll_interval_ms

    def poll(self, output: ReaderOutput) -> InputStatus:
        if self._permits.catches_up(self._context.now_ms()):
            return InputStatus.NOTHING_AVAILABLE
        counted = _CountingOutput(output)
        status = self._reader.poll(counted)
        self._permits.ahead += sum(counted.records.values())
        if status is InputStatus.MORE_AVAILABLE and self._permits.catches_up(self._context.now_ms()):
            return InputStatus.NOTHING_AVAILABLE
        return status

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        self._permits.limiter.notify_checkpoint_complete(checkpoint_id)
        super().notify_checkpoint_complete(checkpoint_id)


class _SplitLimitedReader(_Wrapper):
    """Reads each split at the rate, and pauses those that are ahead of it."""

    def __init__(self, reader: SourceReader[Any], strategy: RateLimiterStrategy, context: SourceReaderContext) -> None:
        super().__init__(reader, context)
        self._strategy = strategy
        self._permits: dict[str, _Permits] = {}
        self._waiting: set[str] = set()
        self._paused: set[str] = set()
        """The splits that were paused from outside, such as by an alignment of watermarks."""

    @property
    def poll_interval_ms(self) -> int:  # type: ignore[override]
        intervals = [self._permits[split_id].limiter.poll_interval_ms for split_id in self._waiting]
        return min([self._reader.poll_interval_ms, *intervals])

    def poll(self, output: ReaderOutput) -> InputStatus:
        self._limit(self._waiting)
        counted = _CountingOutput(output)
        status = self._reader.poll(counted)
        for split_id, records in counted.records.items():
            permits = self._permits.get(split_id)
            if permits is None:
                permits = self._permits[split_id] = _Permits(self._strategy.create_rate_limiter(1))
            permits.ahead += records
        for split_id in counted.finished:
            self._permits.pop(split_id, None)
            self._waiting.discard(split_id)
            self._paused.discard(split_id)
        self._limit(self._waiting | (counted.records.keys() & self._permits.keys()))
        return status

    def _limit(self, split_ids: Collection[str]) -> None:
        """Pause those splits that are ahead, resume those that are no longer."""
        now_ms = self._context.now_ms()
        ahead = {split_id for split_id in split_ids if self._permits[split_id].catches_up(now_ms)}
        pause, resume = ahead - self._waiting - self._paused, self._waiting - ahead - self._paused
        self._waiting = ahead
        if pause or resume:
            try:
                self._reader.pause_or_resume_splits(sorted(pause), sorted(resume))
            except NotImplementedError as error:
                problem = f"RateLimitedSource: a rate per split has to pause splits, but {error}"
                raise ProgramError(problem, hint="leave per_split out") from error

    def pause_or_resume_splits(self, to_pause: Collection[str], to_resume: Collection[str]) -> None:
        self._paused = (self._paused | {*to_pause}) - {*to_resume}
        self._reader.pause_or_resume_splits([*{*to_pause} - self._waiting], [*{*to_resume} - self._waiting])

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        for permits in self._permits.values():
            permits.limiter.notify_checkpoint_complete(checkpoint_id)
        super().notify_checkpoint_complete(checkpoint_id)


class _CountingOutput:
    """Forwards the output of one poll, and counts the records of each split."""

    def __init__(self, output: ReaderOutput) -> None:
        self._output = output
        self.records: dict[str, int] = {}
        self.finished: list[str] = []

    @property
    def wanted(self) -> int:
        return self._output.wanted

    def emit_watermark(self, timestamp: int, split_id: str = "") -> None:
        self._output.emit_watermark(timestamp, split_id)

    def mark_idle(self, split_id: str = "") -> None:
        self._output.mark_idle(split_id)

    def split_finished(self, split_id: str) -> None:
        self.finished.append(split_id)
        self._output.split_finished(split_id)

    def request_checkpoint(self) -> None:
        self._output.request_checkpoint()

    def collect(self, values: list[Any], timestamps: list[int] | None = None, split_id: str = "") -> None:
        self.records[split_id] = self.records.get(split_id, 0) + Batch(values).records
        self._output.collect(values, timestamps, split_id)
