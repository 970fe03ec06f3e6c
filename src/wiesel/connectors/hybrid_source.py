"""Hybrid source: several sources read one after the other, such as historical files followed by live data.

>>> source = HybridSource.builder(history).add_source(live).build()

All readers read the same source at a time. A reader that has finished one reports to the enumerator; when all have, the enumerator switches
to the next and notifies them. So a checkpoint has splits of one source only, and its index.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wiesel.core.errors import ProgramError
from wiesel.spi.source import (
    Boundedness,
    FetcherThread,
    InputStatus,
    ReaderOutput,
    Source,
    SourceReader,
    SourceReaderContext,
    SourceReaderMetricGroup,
    SplitEnumerator,
    SplitEnumeratorContext,
    SplitEnumeratorMetricGroup,
)
from wiesel.spi.state import BroadcastState, ListState, ListStateDescriptor, MapStateDescriptor, OperatorStateStore
from wiesel.types.typeinfo import TypeInformation

__all__ = ["HybridSource", "HybridSourceBuilder"]

_NO_SOURCE = -1


@dataclass(frozen=True)
class HybridSplit:
    """A split of one of the sources."""

    source: int
    split: Any

    @property
    def split_id(self) -> str:
        """Return the split's id, which distinguishes splits of different sources."""
        return _split_id(self.source, self.split.split_id)


def _split_id(source: int, split_id: str) -> str:
    return f"{source}-{split_id}"


@dataclass(frozen=True)
class _ReaderReady:
    """A reader has started; ``source`` is that of its restored splits, or ``_NO_SOURCE``."""

    source: int


@dataclass(frozen=True)
class _SourceFinished:
    """A reader has read all of its splits of a source."""

    source: int


@dataclass(frozen=True)
class _SwitchSource:
    """Read this source from now on."""

    source: int


@dataclass(frozen=True)
class _State:
    """State of the enumerator: which source is read, and the state of its enumerator."""

    source: int
    enumerator: Any


class HybridSource(Source[HybridSplit]):
    """Reads sources one after the other; created by :meth:`builder`.

    It is bounded if the last source is; all others must be.
    """

    def __init__(self, sources: Sequence[Source[Any]]) -> None:
        self._sources = tuple(sources)

    @staticmethod
    def builder(first_source: Source[Any]) -> HybridSourceBuilder:
        """Return a builder of a source that begins with ``first_source``.

        Raises:
            ProgramError: If it is not a source.
        """
        return HybridSourceBuilder(first_source)

    @property
    def boundedness(self) -> Boundedness:
        """Return that of the last source."""
        return self._sources[-1].boundedness

    @property
    def produced_type(self) -> TypeInformation | None:
        """Return the type of the records if all sources declare the same."""
        first = self._sources[0].produced_type
        return first if all(source.produced_type == first for source in self._sources) else None

    def create_enumerator(self, context: SplitEnumeratorContext[HybridSplit], state: Any | None = None) -> SplitEnumerator[HybridSplit]:
        """Create the enumerator, which has that of one source at a time."""
        return _HybridEnumerator(context, self._sources, state)

    def create_reader(self, context: SourceReaderContext) -> SourceReader[HybridSplit]:
        """Create the reader of one subtask, which has that of one source at a time."""
        return _HybridReader(context, self._sources)


class HybridSourceBuilder:
    """Collects the sources of a :class:`HybridSource`, in reading order."""

    def __init__(self, first_source: Source[Any]) -> None:
        self._sources: list[Source[Any]] = []
        self._add(first_source, "HybridSource.builder()")

    def add_source(self, source: Source[Any]) -> HybridSourceBuilder:
        """Add the source that is read after the previous ones.

        Raises:
            ProgramError: If it is not a source, or the previous source is unbounded.
        """
        self._add(source, "add_source()")
        return self

    def _add(self, source: Source[Any], method: str) -> None:
        given: object = source
        if not isinstance(given, Source):
            raise ProgramError(f"{method} got {given!r}, which is not a source", hint="call build() if it is a builder")
        if self._sources and self._sources[-1].boundedness is not Boundedness.BOUNDED:
            raise ProgramError(
                f"{method}: source {len(self._sources)}, {type(self._sources[-1]).__name__}, never ends, so the next would never be read",
                hint="all sources but the last must be bounded",
            )
        self._sources.append(source)

    def build(self) -> HybridSource:
        """Return the source."""
        return HybridSource(self._sources)


class _EnumeratorContext:
    """Offers the enumerator of one source the readers."""

    def __init__(self, context: SplitEnumeratorContext[HybridSplit], source: int) -> None:
        self._context = context
        self._source = source
        self.waits = False
        self.closed = False

    @property
    def parallelism(self) -> int:
        return self._context.parallelism

    @property
    def metric_group(self) -> SplitEnumeratorMetricGroup:
        return self._context.metric_group

    def assign_splits(self, splits: Mapping[int, Sequence[Any]]) -> None:
        self._context.assign_splits({subtask: [HybridSplit(self._source, s) for s in given] for subtask, given in splits.items()})

    def signal_no_more_splits(self, subtask: int) -> None:
        self._context.signal_no_more_splits(subtask)

    def send_event_to_source_reader(self, subtask: int, event: Any) -> None:
        self._context.send_event_to_source_reader(subtask, event)

    def call_later(self, delay_ms: int) -> None:
        self.waits = True
        self._context.call_later(delay_ms)

    def call_async(
        self,
        work: Callable[[], Any],
        handler: Callable[[Any, BaseException | None], None],
        *,
        initial_delay_ms: int = 0,
        period_ms: int | None = None,
    ) -> None:
        def handle(result: Any, error: BaseException | None) -> None:
            if not self.closed:
                handler(result, error)

        self._context.call_async(
            lambda: None if self.closed else work(), handle, initial_delay_ms=initial_delay_ms, period_ms=period_ms
        )


class _HybridEnumerator(SplitEnumerator[HybridSplit]):
    def __init__(self, context: SplitEnumeratorContext[HybridSplit], sources: Sequence[Source[Any]], state: _State | None) -> None:
        self._context = context
        self._sources = sources
        self._finished: set[int] = set()
        self._switching = False
        self._source = 0 if state is None else state.source
        self._inner_context = _EnumeratorContext(context, self._source)
        inner_state = None if state is None else state.enumerator
        self._inner: SplitEnumerator[Any] = sources[self._source].create_enumerator(self._inner_context, inner_state)

    def start(self) -> None:
        self._inner.start()

    def add_reader(self, subtask: int) -> None:
        # The source's enumerator hears of a reader when that reads this source.
        return

    def handle_split_request(self, subtask: int) -> None:
        self._inner.handle_split_request(subtask)

    def handle_source_event(self, subtask: int, event: Any) -> None:
        if isinstance(event, _ReaderReady):
            if event.source == _NO_SOURCE:
                self._context.send_event_to_source_reader(subtask, _SwitchSource(self._source))
            self._inner.add_reader(subtask)
        elif isinstance(event, _SourceFinished):
            self._finished.add(subtask)
            if len(self._finished) == self._context.parallelism:
                self._switch()
        else:
            self._inner.handle_source_event(subtask, event)

    def _switch(self) -> None:
        """Create the enumerator of the next source, which may look for its splits, in the thread for blocking work."""
        self._switching = True
        source = self._source + 1
        context = _EnumeratorContext(self._context, source)

        def created(enumerator: SplitEnumerator[Any] | None, error: BaseException | None) -> None:
            if enumerator is None:
                raise error or RuntimeError(f"source {source} has no enumerator")
            self._switched(source, context, enumerator)

        self._context.call_async(lambda: self._sources[source].create_enumerator(context, None), created)

    def _switched(self, source: int, context: _EnumeratorContext, enumerator: SplitEnumerator[Any]) -> None:
        self._inner_context.closed = True
        self._inner.close()
        self._source, self._inner_context, self._inner = source, context, enumerator
        self._switching = False
        self._finished.clear()
        self._inner.start()
        # Before the first split is assigned: every reader knows the source.
        for subtask in range(self._context.parallelism):
            self._context.send_event_to_source_reader(subtask, _SwitchSource(self._source))
        for subtask in range(self._context.parallelism):
            self._inner.add_reader(subtask)

    def on_timer(self) -> None:
        # It may be a request of the previous source.
        if self._inner_context.waits:
            self._inner_context.waits = False
            self._inner.on_timer()

    def snapshot_state(self, checkpoint_id: int) -> Any:
        if self._switching:  # all readers have finished the source before, and know nothing of the next one
            return _State(self._source + 1, None)
        return _State(self._source, self._inner.snapshot_state(checkpoint_id))

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        self._inner.notify_checkpoint_complete(checkpoint_id)

    def close(self) -> None:
        self._inner.close()


class _States(OperatorStateStore):
    """The state of the readers of one source; names may coincide between sources."""

    def __init__(self, states: OperatorStateStore, source: int) -> None:
        self._states = states
        self._prefix = f"source-{source}-"

    def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> BroadcastState[Any, Any]:
        return self._states.get_broadcast_state(self._named(state_descriptor))

    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        return self._states.get_list_state(self._named(state_descriptor))

    def get_union_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        return self._states.get_union_list_state(self._named(state_descriptor))

    def get_registered_state_names(self) -> set[str]:
        return self._own(self._states.get_registered_state_names())

    def get_registered_broadcast_state_names(self) -> set[str]:
        return self._own(self._states.get_registered_broadcast_state_names())

    def _named(self, descriptor: Any) -> Any:
        named = copy.copy(descriptor)
        named.name = self._prefix + descriptor.name
        return named

    def _own(self, names: set[str]) -> set[str]:
        return {name.removeprefix(self._prefix) for name in names if name.startswith(self._prefix)}


class _ReaderContext:
    """Offers the reader of one source the enumerator."""

    def __init__(self, context: SourceReaderContext, source: int) -> None:
        self._context = context
        self._source = source

    @property
    def subtask_index(self) -> int:
        return self._context.subtask_index

    @property
    def parallelism(self) -> int:
        return self._context.parallelism

    @property
    def metric_group(self) -> SourceReaderMetricGroup:
        return self._context.metric_group

    def request_split(self) -> None:
        self._context.request_split()

    def send_source_event_to_coordinator(self, event: Any) -> None:
        self._context.send_source_event_to_coordinator(event)

    def now_ms(self) -> int:
        return self._context.now_ms()

    def start_fetcher(self, step: Callable[[], int | None], finish: Callable[[], None]) -> FetcherThread:
        return self._context.start_fetcher(step, finish)

    def wake(self) -> None:
        self._context.wake()

    def get_operator_state_store(self) -> OperatorStateStore:
        return _States(self._context.get_operator_state_store(), self._source)


class _Output:
    """Prefixes the split ids of one source, and tracks unfinished splits."""

    def __init__(self, source: int) -> None:
        self._source = source
        self._open: set[str] = set()
        self.output: ReaderOutput

    def _named(self, split_id: str) -> str:
        named = _split_id(self._source, split_id)
        self._open.add(named)
        return named

    @property
    def wanted(self) -> int:
        return self.output.wanted

    def collect(self, values: list[Any], timestamps: list[int] | None = None, split_id: str = "") -> None:
        self.output.collect(values, timestamps, self._named(split_id))

    def emit_watermark(self, timestamp: int, split_id: str = "") -> None:
        self.output.emit_watermark(timestamp, self._named(split_id))

    def mark_idle(self, split_id: str = "") -> None:
        self.output.mark_idle(self._named(split_id))

    def split_finished(self, split_id: str) -> None:
        named = self._named(split_id)
        self._open.discard(named)
        self.output.split_finished(named)

    def request_checkpoint(self) -> None:
        self.output.request_checkpoint()

    def finish(self) -> None:
        """Ensure that no split of this source holds back event time while the next is read."""
        for split_id in sorted(self._open):
            self.output.split_finished(split_id)
        self._open.clear()


class _HybridReader(SourceReader[HybridSplit]):
    def __init__(self, context: SourceReaderContext, sources: Sequence[Source[Any]]) -> None:
        self._context = context
        self._sources = sources
        self._source = _NO_SOURCE
        self._inner: SourceReader[Any] | None = None
        self._output = _Output(_NO_SOURCE)

    @property
    def poll_interval_ms(self) -> int:  # type: ignore[override]
        return SourceReader.poll_interval_ms if self._inner is None else self._inner.poll_interval_ms

    @property
    def splits_hold_watermarks(self) -> bool:  # type: ignore[override]
        return self._inner is not None and self._inner.splits_hold_watermarks

    def _make(self, source: int) -> SourceReader[Any]:
        self._source = source
        self._output = _Output(source)
        self._inner = self._sources[source].create_reader(_ReaderContext(self._context, source))
        return self._inner

    def start(self) -> None:
        self._context.send_source_event_to_coordinator(_ReaderReady(self._source))
        if self._inner is not None:
            self._inner.start()

    def handle_source_event(self, event: Any) -> None:
        if isinstance(event, _SwitchSource):
            self._make(event.source).start()
        elif self._inner is not None:
            self._inner.handle_source_event(event)

    def poll(self, output: ReaderOutput) -> InputStatus:
        if self._inner is None:
            return InputStatus.NOTHING_AVAILABLE
        self._output.output = output
        status = self._inner.poll(self._output)
        if status is not InputStatus.END_OF_INPUT or self._source == len(self._sources) - 1:
            return status
        self._output.finish()
        self.close()
        self._context.send_source_event_to_coordinator(_SourceFinished(self._source))
        return InputStatus.NOTHING_AVAILABLE

    def add_splits(self, splits: Sequence[HybridSplit]) -> None:
        if splits:
            (self._inner or self._make(splits[0].source)).add_splits([split.split for split in splits])

    def pause_or_resume_splits(self, to_pause: Collection[str], to_resume: Collection[str]) -> None:
        if self._inner is not None:
            prefix = _split_id(self._source, "")
            pause, resume = [[i.removeprefix(prefix) for i in ids if i.startswith(prefix)] for ids in (to_pause, to_resume)]
            self._inner.pause_or_resume_splits(pause, resume)

    def notify_no_more_splits(self) -> None:
        if self._inner is not None:
            self._inner.notify_no_more_splits()

    def snapshot_state(self, checkpoint_id: int) -> list[HybridSplit]:
        if self._inner is None:
            return []
        return [HybridSplit(self._source, split) for split in self._inner.snapshot_state(checkpoint_id)]

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        if self._inner is not None:
            self._inner.notify_checkpoint_complete(checkpoint_id)

    def close(self) -> None:
        inner, self._inner = self._inner, None
        if inner is not None:
            inner.close()
