"""Internal. Operators of bounded data in the step of an iteration: one per round, with its constant inputs.

Inputs from outside the iteration arrive once. They are stored, encoded so that no function can change them, and passed to the operator of
every round, unless the previous one hands over data computed from them: a hash table, or the solution set. As in Flink functions are opened
and closed in each round, and a function object may aggregate values over all subtasks.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

from wiesel.core.errors import invariant
from wiesel.core.ids import MAX_TIMESTAMP
from wiesel.runtime.batch.spill_files import Spill
from wiesel.runtime.batch.spillable_list import SpillableList
from wiesel.runtime.operator import Output, StreamOperator
from wiesel.runtime.operators.batch.base import BatchOperator, IterationRound
from wiesel.runtime.registry import make_operator
from wiesel.wire.batch import Batch
from wiesel.wire.buffers import decode_batch, encode_batch
from wiesel.wire.events import IterationBarrier

__all__ = ["PARTIALS_TAG", "rounds_operator"]

PARTIALS_TAG = "wiesel-partial-aggregates"


class _RoundOutput:
    """Output of the operator of a round, whose end does not end the output."""

    def __init__(self, output: Output) -> None:
        self.emit = output.emit
        self.emit_side = output.emit_side

    def emit_watermark(self, timestamp: int) -> None:
        """Hold back the end of the operator."""

    def emit_status(self, idle: bool) -> None:
        """Rounds are never idle."""

    def emit_iteration_barrier(self, barrier: IterationBarrier) -> None:
        """Do nothing: there are none in rounds."""


class RoundsOperator(StreamOperator):
    """Runs an operator of bounded data once per round.

    Args:
        params: ``kind`` and ``inner`` (its params), ``static`` (the constant inputs) and ``value_input``, the input with the aggregates of
            the previous round, or None.
        payload: ``inner`` (its payload) and ``aggregators``, by name.
    """

    def __init__(self, params: dict[str, Any], payload: dict[str, Any]) -> None:
        self._kind = params["kind"]
        self._inner_params = dict(params["inner"])
        self._inner_payload = payload["inner"]
        self._static = frozenset(params["static"])
        self._value_input = params["value_input"]
        # Operators of one task may have been sent with one aggregator.
        self._aggregators: dict[str, Any] = copy.deepcopy(payload["aggregators"])
        self._previous: dict[str, Any] = {}
        self._round = 1
        self._inner: BatchOperator | None = None
        self._inherited: dict[int, Any] = {}

    def open(self) -> None:
        """Start without stored inputs."""
        self._spill = Spill(self.context.local_dir)
        waits = len(self._static) + (self._value_input is not None)
        memory = self.context.managed_memory_bytes
        share = memory // 4 // max(1, waits)
        self._inner_context = replace(self.context, managed_memory_bytes=memory * 3 // 4 if waits else memory)
        self._kept = {index: SpillableList(share, self._spill) for index in self._static}
        self._held = SpillableList(share, self._spill)

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Add records of the round, or of a constant input."""
        if input_index == self._value_input:
            self._previous = batch.values[-1]
            return
        if input_index in self._static:
            payload = encode_batch(batch)
            self._kept[input_index].append(payload, len(payload))
        elif self._value_input is not None and self._round > 1:
            # Functions are opened with the aggregates of the previous round, which arrive in another input.
            payload = encode_batch(batch)
            self._held.append((payload, input_index), len(payload))
            return
        self._operator().process_batch(batch, input_index)

    def _operator(self) -> BatchOperator:
        if self._inner is None:
            self._inner = self._started()
        return self._inner

    def _started(self) -> BatchOperator:
        inner = make_operator(self._kind, self._inner_params, self._inner_payload)
        invariant(isinstance(inner, BatchOperator), f"{self._kind} is no operator of bounded data")
        inner.iteration = IterationRound(self._round, self._aggregators, self._previous)  # type: ignore[attr-defined]
        inner.static, inner.inherited = self._static, self._inherited  # type: ignore[attr-defined]
        inner.setup(self._inner_context, _RoundOutput(self.output))
        inner.open()
        if self._round > 1:
            for index, kept in self._kept.items():
                for payload in () if index in self._inherited else kept:
                    inner.process_batch(decode_batch(payload), index)
                inner.end_input(index)
        return inner  # type: ignore[return-value]

    def process_watermark(self, timestamp: int) -> None:
        """End the round: emit its results. At the end of time there are no more rounds."""
        if timestamp == MAX_TIMESTAMP:
            return
        inner = self._operator()
        for payload, index in self._held:
            inner.process_batch(decode_batch(payload), index)
        self._held.clear()
        for index in range(self._inner_params["inputs"]):
            if self._round == 1 or index not in self._static:
                inner.end_input(index)
        inner.finish()
        while inner.has_more:
            inner.finish()
        self._inherited = inner.bequest()
        for index in self._inherited:
            self._kept[index].clear()
        self._close_inner()
        self._report()
        self._round = timestamp + 1
        self.output.emit_watermark(timestamp)

    def _report(self) -> None:
        """Report the aggregates of this subtask's functions."""
        partials = []
        for name, aggregator in self._aggregators.items():
            partials.append((name, aggregator.get_aggregate()))
            aggregator.reset()
        self.output.emit_side(PARTIALS_TAG, Batch(partials))

    def process_status(self, idle: bool) -> None:
        """Rounds are never idle."""

    def finish(self) -> None:
        """Finish after all rounds."""
        self.output.emit_watermark(MAX_TIMESTAMP)

    def _close_inner(self) -> None:
        inner, self._inner = self._inner, None
        if inner is not None:
            inner.close()

    def close(self) -> None:
        """Close the function if a round is in progress, and release the files."""
        try:
            self._close_inner()
        finally:
            if hasattr(self, "_spill"):
                self._spill.close()


def rounds_operator(params: dict[str, Any], payload: Any) -> RoundsOperator:
    """Create the operator that runs another one in rounds."""
    return RoundsOperator(params, payload)
