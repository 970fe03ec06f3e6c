"""Any source, read at most at a given rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wiesel.connectors.datagen import RateLimiter, RateLimiterStrategy
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

__all__ = ["RateLimitedSource"]


class RateLimitedSource(Source[Any]):
    """Another source that is read no faster than a strategy allows.

    A reader emits what it reads at one go (a block of a file, say) and then waits until as many records are allowed, so the rate
    holds over that. Checkpoints are those of the other source: the limit may be changed, or left out, when a job goes on.

    Args:
        source: The source.
        rate_limiter_strategy: How fast it is read, by all readers together.

    Raises:
        ProgramError: If one of them is none.
    """

    def __init__(self, source: Source[Any], rate_limiter_strategy: RateLimiterStrategy) -> None:
        given: tuple[object, object] = source, rate_limiter_strategy
        if not isinstance(given[0], Source) or not isinstance(given[1], RateLimiterStrategy):
            raise ProgramError(
                f"RateLimitedSource({source!r}, {rate_limiter_strategy!r})",
                hint="give a source and a strategy, such as RateLimiterStrategy.per_second(100)",
            )
        self._source = source
        self._strategy = rate_limiter_strategy

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
        limiter = self._strategy.create_rate_limiter(context.parallelism, context.subtask_index)
        return _LimitedReader(self._source.create_reader(context), limiter, context)


class _LimitedReader(SourceReader[Any]):
    def __init__(self, reader: SourceReader[Any], limiter: RateLimiter, context: SourceReaderContext) -> None:
        self._reader = reader
        self._limiter = limiter
        self._context = context
        self._ahead = 0
        """So many records were emitted before they were allowed."""
        self.splits_hold_watermarks = reader.splits_hold_watermarks

    @property
    def poll_interval_ms(self) -> int:  # type: ignore[override]
        return self._limiter.poll_interval_ms if self._ahead > 0 else self._reader.poll_interval_ms

    def poll(self, output: ReaderOutput) -> InputStatus:
        if self._catches_up():
            return InputStatus.NOTHING_AVAILABLE
        counted = _CountingOutput(output)
        status = self._reader.poll(counted)
        self._ahead += counted.records
        if status is InputStatus.MORE_AVAILABLE and self._catches_up():
            return InputStatus.NOTHING_AVAILABLE
        return status

    def _catches_up(self) -> bool:
        if self._ahead:
            self._ahead -= self._limiter.permits(self._context.now_ms(), self._ahead)
        return self._ahead > 0

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

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        self._limiter.notify_checkpoint_complete(checkpoint_id)
        self._reader.notify_checkpoint_complete(checkpoint_id)

    def close(self) -> None:
        self._reader.close()


class _CountingOutput:
    """Hands on what one poll emits, and counts its records."""

    def __init__(self, output: ReaderOutput) -> None:
        self._output = output
        self.records = 0

    @property
    def wanted(self) -> int:
        return self._output.wanted

    def emit_watermark(self, timestamp: int, split_id: str = "") -> None:
        self._output.emit_watermark(timestamp, split_id)

    def mark_idle(self, split_id: str = "") -> None:
        self._output.mark_idle(split_id)

    def split_finished(self, split_id: str) -> None:
        self._output.split_finished(split_id)

    def request_checkpoint(self) -> None:
        self._output.request_checkpoint()

    def collect(self, values: list[Any], timestamps: list[int] | None = None, split_id: str = "") -> None:
        self.records += len(values)
        self._output.collect(values, timestamps, split_id)
