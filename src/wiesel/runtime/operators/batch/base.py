"""Internal. Base of the operators of bounded data.

Life cycle: ``begin``, then ``add`` for all batches of its inputs and ``input_ended`` for each of them, then ``results``, a generator that
the task advances step by step, so that results are sent while others are pending. Functions with broadcast sets are opened when those are
complete; until then the other inputs wait in spillable lists.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from types import MappingProxyType
from typing import Any

from wiesel.core.errors import ProgramError
from wiesel.core.ids import MAX_TIMESTAMP
from wiesel.runtime.batch.object_sizes import mean_size
from wiesel.runtime.batch.record_codec import RecordCodec, codec_for
from wiesel.runtime.batch.spill_files import Spill
from wiesel.runtime.batch.spillable_list import SpillableList
from wiesel.runtime.operator import OperatorContext, StreamOperator
from wiesel.runtime.results import ResultCollector
from wiesel.runtime.runtime_context import StreamingRuntimeContext
from wiesel.runtime.user_code import UserCode, caller_location, raise_failure
from wiesel.spi.functions import user_callable
from wiesel.wire.batch import Batch

__all__ = ["SPILLED_COUNTER", "BatchOperator", "BatchRuntimeContext", "IterationRound", "chunks"]

SPILLED_COUNTER = "spilledBytes"
DECODED_COUNTER = "decodedRecords"
_STEP_BYTES = 64 << 10
"""Approximate size of the results that a task emits before sending."""

_LONGEST_STEP = 1_000
_FIRST_STEP = 16


def chunks(values: Iterable[Any]) -> Iterator[list[Any]]:
    """Yield the values in lists, the shorter the larger they are."""
    source = iter(values)
    size = _FIRST_STEP
    while part := list(islice(source, size)):
        size = max(1, min(_LONGEST_STEP, int(_STEP_BYTES / mean_size(part))))
        yield part


@dataclass(frozen=True)
class IterationRound:
    """The round of an iteration as seen by functions.

    Attributes:
        number: From 1.
        aggregators: Aggregators of this subtask's functions in this round, by name.
        previous: Aggregates of all functions in the previous round, by name.
    """

    number: int
    aggregators: dict[str, Any] = field(default_factory=dict)
    previous: dict[str, Any] = field(default_factory=dict)


class BatchRuntimeContext(StreamingRuntimeContext):
    """The runtime context of functions of bounded data: gives access to broadcast sets and the iteration."""

    def __init__(self, context: OperatorContext, broadcast: dict[str, list[Any]], iteration: IterationRound | None = None) -> None:
        super().__init__(context)
        self._broadcast = broadcast
        self._iteration = iteration
        self._name = context.name

    def get_superstep_number(self) -> int:
        """Return the number of the iteration's round, from 1.

        Raises:
            ProgramError: If the operator is in no iteration.
        """
        return self._in_iteration().number

    def get_iteration_aggregator(self, name: str) -> Any:
        """Return the aggregator of this name, to be updated with ``aggregate(value)``; it is reset in each round.

        Raises:
            ProgramError: If the iteration has no such aggregator.
        """
        aggregators = self._in_iteration().aggregators
        self._require_aggregator(name, aggregators)
        return aggregators[name]

    def get_previous_iteration_aggregate(self, name: str) -> Any:
        """Return the aggregate of this name over all subtasks in the previous round; None in the first round.

        Raises:
            ProgramError: If the iteration has no such aggregator.
        """
        iteration = self._in_iteration()
        self._require_aggregator(name, iteration.aggregators)
        return iteration.previous.get(name)

    def _in_iteration(self) -> IterationRound:
        if self._iteration is None:
            raise ProgramError(
                f"operator {self._name!r} is in no iteration, so there are no rounds (at {caller_location()})",
                hint="use the function in the step of an iteration: between iterate() and close_with()",
            )
        return self._iteration

    def _require_aggregator(self, name: str, known: dict[str, Any]) -> None:
        if name not in known:
            raise ProgramError(
                f"{name!r} is no aggregator of the iteration of operator {self._name!r}, which has: "
                f"{', '.join(sorted(known)) or 'none'} (at {caller_location()})",
                hint="add it with register_aggregator(name, aggregator) on the result of iterate()",
            )

    def has_broadcast_variable(self, name: str) -> bool:
        """Return whether the operator has a broadcast set of this name."""
        return name in self._broadcast

    def get_broadcast_variable(self, name: str) -> list[Any]:
        """Return all records of a broadcast set, in undefined order; the list is shared by all calls.

        Raises:
            ProgramError: If the operator has no such set.
        """
        if name not in self._broadcast:
            known = ", ".join(sorted(self._broadcast)) or "none"
            raise ProgramError(
                f"{name!r} is no broadcast set of operator {self._name!r}, which has: {known} (at {caller_location()})",
                hint="add it with .with_broadcast_set(dataset, name) on the operator that uses it",
            )
        return self._broadcast[name]


class BatchOperator(StreamOperator):
    """See the module. ``params``: ``inputs`` (1 or 2) and the names of broadcast sets, whose inputs follow."""

    method = ""
    """The name of the method of function objects; callables are called themselves."""

    iteration: IterationRound | None = None
    """The present round in the step of an iteration, where an operator lives for one round."""

    static: frozenset[int] = frozenset()
    """The inputs that are the same in all rounds."""

    inherited: Mapping[int, Any] = MappingProxyType({})
    """Data inherited from the operator of the previous round by input; these inputs are not sent again."""

    def __init__(self, params: dict[str, Any], payload: dict[str, Any]) -> None:
        self.params = params
        self.payload = payload
        self.function = payload.get("function")
        self._inputs = int(params.get("inputs", 1))
        self._names = list(params.get("broadcast", ()))
        self._broadcast: dict[str, list[Any]] = {name: [] for name in self._names}
        self._held: list[SpillableList] = []
        self._steps: Iterator[Any] | None = None
        self._opened = False
        self._finished = False
        self._codecs: list[RecordCodec] = []

    # Methods of subclasses

    def begin(self) -> None:
        """Initialise; the function is open."""

    @abstractmethod
    def add(self, values: list[Any], keys: list[Any] | None, input_index: int) -> None:
        """Add records of an input."""

    def input_ended(self, input_index: int) -> None:
        """Handle the end of an input."""

    def results(self) -> Iterator[list[Any]]:
        """Yield the results in lists when all inputs have ended; an empty list lets pending ones be sent."""
        return iter(())

    def bequest(self) -> dict[int, Any]:
        """Return the data for the operator of the next round, by input."""
        return {}

    # Helpers

    @property
    def call(self) -> Callable[..., Any]:
        """Return the function to call: the function's method, or the callable itself."""
        return user_callable(self.function, self.method)

    def codec(self, declared: Any) -> RecordCodec:
        """Return a codec whose decoded records are counted in the operator's metrics."""
        codec = codec_for(declared)
        self._codecs.append(codec)
        return codec

    def guarded(self, produce: Callable[[], Iterable[Any] | None], record: Any) -> Iterator[Any]:
        """Yield the results of a user's function; its exceptions concern ``record``."""
        try:
            produced = produce()
            if produced is not None:
                yield from produced
        except Exception as error:  # noqa: BLE001 - whatever a user's function raises
            failure = self.guard.failed(error, record)
            if failure is not None:
                raise_failure(failure, error)

    def broadcast_set(self, name: str) -> list[Any]:
        """Return all records of a broadcast set."""
        return self._broadcast[name]

    @property
    def memory_bytes(self) -> int:
        """Return the budget of the algorithm; a quarter is reserved for records that wait for a broadcast set."""
        return self.context.managed_memory_bytes * 3 // 4 if self._names else self.context.managed_memory_bytes

    # The operator's contract.

    def open(self) -> None:
        """Open the function, unless it has to wait for broadcast sets."""
        self.guard = UserCode(self.context, self.output)
        self.collector = ResultCollector(self.output, self.guard, self.payload.get("output_type"))
        self.spill = Spill(self.context.local_dir)
        if not self._names:
            self._begin()
        else:
            share = self.context.managed_memory_bytes // 4 // self._inputs
            self._held = [SpillableList(share, self.spill) for _ in range(self._inputs)]

    def _begin(self) -> None:
        self._opened = True
        self.guard.open(self.function, BatchRuntimeContext(self.context, self._broadcast, self.iteration))
        self.begin()

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Add records."""
        if input_index >= self._inputs:
            self._broadcast[self._names[input_index - self._inputs]].extend(batch.values)
        elif self._names:
            size = int(len(batch.values) * (mean_size(batch.values) + 16))
            self._held[input_index].append((batch.values, batch.keys), size)
        else:
            self.add(batch.values, batch.keys, input_index)

    def end_input(self, input_index: int = 0) -> None:
        """Mark an input as complete."""
        if not self._names:
            self.input_ended(input_index)

    def process_watermark(self, timestamp: int) -> None:
        """Hold back the watermark: the results follow all of the input."""

    @property
    def has_more(self) -> bool:
        """True if results are pending."""
        return self._steps is not None and not self._finished

    def finish(self) -> None:
        """Emit the next part of the results."""
        if self._finished:
            return
        if self._steps is None:
            self._steps = chain(self._replayed(), self.results()) if self._names else self.results()
        values = next(self._steps, None)
        if values is not None:
            self.collector.emit(values, None)
            return
        self._finished = True
        self.output.emit_watermark(MAX_TIMESTAMP)
        self.context.metrics.counter(SPILLED_COUNTER).inc(self.spill.bytes_written)
        self.context.metrics.counter(DECODED_COUNTER).inc(sum(codec.decoded for codec in self._codecs))

    def _replayed(self) -> Iterator[list[Any]]:
        self._begin()
        for index, held in enumerate(self._held):
            for values, keys in held:
                self.add(values, keys, index)
                yield []
            held.clear()
            self.input_ended(index)

    def close(self) -> None:
        """Delete the files, then close the function."""
        if hasattr(self, "spill"):
            self.spill.close()
        if self._opened:
            self.guard.close(self.function)
