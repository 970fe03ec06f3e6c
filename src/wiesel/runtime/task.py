"""Internal. A task: the chain of one subtask, its gate, its writers and its checkpoints.

Sans I/O: the shell around it (a Spark worker, or the local engine) passes in rows, control messages and the time, fetches rows and
messages, and executes ``services.run_async``. All methods run in one thread, the mailbox thread.

Retry semantics: a task never runs twice for the same attempt. A new attempt starts from the last complete checkpoint; later effects of this
one are not visible outside (records are dropped with their channels, sinks publish in the JobMaster).
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from wiesel.checkpoint.messages import (
    AckCheckpoint,
    AssignSplits,
    CheckpointAborted,
    CheckpointComplete,
    DeclineCheckpoint,
    EventFromOperator,
    EventToOperator,
    InputTaken,
    LimitOutput,
    NoMoreSplits,
    OvertakeBarriers,
    RequestCheckpoint,
    RequestSplit,
    TaskFinished,
    TaskProgress,
    ToDriver,
    ToTask,
    TriggerCheckpoint,
)
from wiesel.checkpoint.snapshot import OperatorRestore, TaskSnapshot
from wiesel.checkpoint.state_files import files_of
from wiesel.core.errors import StateTooLargeError
from wiesel.core.metrics import MetricRegistry
from wiesel.graph.execution_graph import ALIGNED
from wiesel.runtime.barrier_times import BarrierTimes
from wiesel.runtime.chain import ChainOutput
from wiesel.runtime.descriptor import OperatorDescriptor, OutputDescriptor, TaskDescriptor
from wiesel.runtime.event_loop import EventLoop
from wiesel.runtime.flow import FIRST_BYTES, InputFlow, Taken
from wiesel.runtime.in_flight import InFlightSnapshot, rest_of_buffer, restored_buffers
from wiesel.runtime.input_gate import (
    AbortCheckpoint,
    AdvanceTime,
    ChangeStatus,
    ChannelKey,
    InputEnded,
    InputGate,
    PassIterationBarrier,
    PassMarker,
    Recorded,
    Records,
    Step,
    TakeCheckpoint,
)
from wiesel.runtime.lazy_backend import LazyBackend
from wiesel.runtime.operator import OperatorContext, StreamOperator
from wiesel.runtime.operator_events import OperatorEvents
from wiesel.runtime.operators.sink import SinkOperator
from wiesel.runtime.operators.source import SourceOperator
from wiesel.runtime.partitioning import edge_functions, make_distributor
from wiesel.runtime.record_writer import EdgeWriter, RowSink
from wiesel.runtime.registry import make_operator
from wiesel.runtime.runtime_context import StreamingRuntimeContext
from wiesel.runtime.slicing import MOST_RECORDS, SliceSizer, cut
from wiesel.runtime.snapshotting import PendingSnapshot
from wiesel.runtime.sorted_input import SortedInput, sorts_input
from wiesel.runtime.task_services import DEBLOAT, HOLDS_PRODUCERS, TaskServices
from wiesel.runtime.user_code import UserCode
from wiesel.spi.source import InputStatus
from wiesel.state.backend import StateBackend
from wiesel.wire.batch import Batch
from wiesel.wire.buffers import Buffer, decode_batch, read_buffers
from wiesel.wire.events import Barrier, EndOfInput


class StreamTask:
    """Runs one subtask. Calls: ``start``, then ``on_row``, ``on_control``, ``on_time``, ``poll``, ``drain`` in any order, ``close``."""

    def __init__(self, descriptor: TaskDescriptor, services: TaskServices) -> None:
        self.descriptor = descriptor
        self.services = services
        self.finished = False
        self.rows = RowSink()
        self.operators: list[StreamOperator] = []
        self.outputs: list[ChainOutput] = []
        self.writers: list[EdgeWriter] = []
        self.records_in = 0
        self._metrics = MetricRegistry(services.clock)
        self._backends: dict[str, LazyBackend] = {}
        self._processing_timers: list[tuple[int, int]] = []
        self._epoch = descriptor.restored_checkpoint_id
        self._barriers = BarrierTimes(services.clock)
        self._copies = services.local_copies()
        self._recorded: tuple[Barrier, PendingSnapshot] | None = None
        self._rest: tuple[ChannelKey, Batch] | None = None
        mode = descriptor.config.get("execution.checkpointing.mode", "EXACTLY_ONCE")
        aligned = frozenset(e.edge for e in descriptor.input_edges if e.kind in ALIGNED)
        self._limited = bool(descriptor.config.get(DEBLOAT))
        self._flow: InputFlow | None = None
        if self._limited and descriptor.inputs:
            target_ms, period_ms = descriptor.config[DEBLOAT]
            self._flow = InputFlow(descriptor.inputs, target_ms, period_ms, services.clock.monotonic_s)
        self.gate = InputGate(
            dict(descriptor.inputs),
            exactly_once=mode != "AT_LEAST_ONCE",
            aligned_edges=aligned,
            flow=self._flow,
            holds_producers=bool(descriptor.config.get(HOLDS_PRODUCERS)),
        )
        self._memory_bytes = _memory_per_user(descriptor)
        self._sorted = SortedInput(self._memory_bytes, services.local_dir) if sorts_input(descriptor) else None
        self._sizer = SliceSizer()
        self._edge_functions: list[tuple[Any, OperatorContext, ChainOutput]] = []
        self._unfinished: deque[StreamOperator] | None = None
        self._draining: Barrier | None = None
        self._stopped_by: int | None = None
        self._deferred: list[Callable[[], None]] = []
        self._triggered: Barrier | None = None
        self._requested = False
        self._events = OperatorEvents(self._deliver, self._epoch)
        self._build()
        self._holding = [o for o in self.operators if o.holds_records]
        self._source = self.operators[0] if isinstance(self.operators[0], SourceOperator) else None

    # Construction

    def _build(self) -> None:
        vertex = self.descriptor.vertex
        by_node: dict[int, int] = {}
        contexts: list[OperatorContext] = []
        for index, described in enumerate(vertex.operators):
            operator = make_operator(described.kind, described.params, described.payload)
            output = ChainOutput(self.services.clock.now_ms, isolate=not self.descriptor.config.get("pipeline.object-reuse"))
            context = self._context(index, described)
            operator.setup(context, output)
            contexts.append(context)
            self._bind(operator, described)
            self.operators.append(operator)
            self.outputs.append(output)
            by_node[described.node_id] = index
        for source, target, tag in vertex.chain:
            self.outputs[by_node[source]].add_operator(self.operators[by_node[target]], tag)
        for out in self.descriptor.outputs:
            writer = self._edge_writer(out)
            self.writers.append(writer)
            index = by_node[out.source_node]
            self.outputs[index].add_writer(writer, out.side_tag)
            self._edge_functions += [(function, contexts[index], self.outputs[index]) for function in edge_functions(out)]

    def _context(self, index: int, described: OperatorDescriptor) -> OperatorContext:
        d = self.descriptor
        only_key = self._sorted is not None and index == 0
        # With one key at a time there is little state, whatever the job's backend.
        of_backend = replace(described, state_backend="hashmap") if only_key else described

        def make() -> StateBackend:
            return self.services.make_backend(of_backend, d)

        backend = self._backends[described.operator_id] = LazyBackend(make)
        return OperatorContext(
            operator_id=described.operator_id,
            name=described.name,
            uid=described.uid,
            subtask_index=d.subtask,
            parallelism=d.vertex.parallelism,
            max_parallelism=d.vertex.max_parallelism,
            attempt=d.attempt,
            job_id=d.job_id,
            job_name=d.job_name,
            task_name=d.vertex.name,
            clock=self.services.clock,
            backend=backend,
            metrics=self._metrics.group(described.name),
            job_parameters=dict(d.config.get("pipeline.global-job-parameters") or {}),
            config=d.config,
            register_processing_timer=self._no_processing_timer
            if only_key
            else lambda at_ms: heapq.heappush(self._processing_timers, (at_ms, index)),
            error_policy=str(d.config.get("wiesel.user-error-policy", "fail")),
            restored_checkpoint_id=d.restored_checkpoint_id,
            restarts=d.restarts,
            start_event_loop=self._start_event_loop,
            start_fetcher=self.services.start_fetcher,
            wake_source=self.services.wake_source,
            send_event=lambda event: self.services.send(EventFromOperator(d.key, described.operator_id, event, self._epoch)),
            managed_memory_bytes=self._memory_bytes,
            local_dir=self.services.local_dir,
            user_location=described.user_location,
        )

    def _no_processing_timer(self, at_ms: int) -> None:
        """Ignore timers of processing time, which fire at the end of their key in BATCH mode."""

    def _start_event_loop(self, on_results: Callable[[], None]) -> EventLoop:
        def woken() -> None:
            if self._stopped:
                self._deferred.append(woken)
                return
            on_results()
            if self._ending:
                self._finish_on()

        return self.services.start_event_loop(woken)

    def _bind(self, operator: StreamOperator, described: OperatorDescriptor) -> None:
        restore = self.descriptor.restore.get(described.operator_id) or OperatorRestore()
        key = self.descriptor.key
        operator_id = described.operator_id
        if isinstance(operator, SourceOperator):
            operator.bind(lambda: self.services.send(RequestSplit(key, operator_id)), restore.reader_splits)
        elif isinstance(operator, SinkOperator):
            operator.bind(
                lambda channel, payload: self.services.send(ToDriver(key, channel, self._epoch, payload)),
                restore.writer_states,
            )

    def _edge_writer(self, out: OutputDescriptor) -> EdgeWriter:
        distributor, prepare = make_distributor(out, self.descriptor)
        writer = EdgeWriter(
            out.edge,
            self.descriptor.subtask,
            out.targets,
            distributor,
            self.rows,
            buffer_bytes=int(self.descriptor.config.get("wiesel.exchange.row-size", 65536)),
            timeout_ms=out.timeout_ms,
            broadcast=out.partitioner.kind == "broadcast",
            prepare=prepare,
        )
        if self._limited:
            writer.limit(FIRST_BYTES)
        return writer

    # Life

    def start(self) -> None:
        """Restore state and open the operators, the last of the chain first."""
        reader = self.services.state_reader()
        for described in self.descriptor.vertex.operators:
            restore = self.descriptor.restore.get(described.operator_id)
            if restore is not None:
                self._backends[described.operator_id].restore(restore.states, reader)
        for function, context, output in self._edge_functions:
            UserCode(context, output).open(function, StreamingRuntimeContext(context))
        for operator in reversed(self.operators):
            operator.open()
        self.gate.restore(restored_buffers(self.descriptor, reader))

    def close(self) -> None:
        """Close all operators and backends; the first error is raised when all are closed."""
        first: BaseException | None = None
        selectors = [partial(UserCode(context, output).close, function) for function, context, output in self._edge_functions]
        released = [] if self._sorted is None else [self._sorted.close]
        for close in released + [o.close for o in self.operators] + selectors + [b.close for b in self._backends.values()]:
            try:
                close()
            except Exception as error:  # noqa: BLE001 - the others must be closed as well; raised below
                first = first or error
        if first is not None:
            raise first

    def drain(self) -> list[tuple[int, bytes]]:
        """Return and clear the rows ready to be sent: (partition of the next level, bytes)."""
        return self.rows.drain()

    # Input

    def on_row(self, row: bytes | memoryview) -> None:
        """Process a row of the exchange with buffers for this task only."""
        for buffer in read_buffers(row):
            self.on_buffer(buffer)

    def on_buffer(self, buffer: Buffer) -> None:
        """Process one buffer."""
        for _ in self.on_buffer_in_slices(buffer):
            pass

    def on_buffer_in_slices(self, buffer: Buffer) -> Iterator[None]:
        """Process one buffer; yields between slices of its records, where the shell may send rows."""
        return self._take_steps(self.gate.on_buffer(buffer))

    def work_off(self) -> Iterator[None]:
        """Process the oldest buffer of the backlog, in slices."""
        return self._take_steps(self.gate.work_off())

    def interrupt(self) -> None:
        """Interrupt processing between two slices: the rest of the buffer is processed later."""
        if self._rest is not None:
            (edge, source), rest = self._rest
            self._rest = None
            self.gate.put_back(rest_of_buffer(edge, source, rest))

    @property
    def backlogged(self) -> bool:
        """Return whether the backlog is processed before new rows, unless the task is waiting for barriers."""
        return self.gate.backlog > 0 and not self._stopped

    @property
    def hurried(self) -> bool:
        """Return whether the task accepts rows immediately, without processing them yet: they may contain barriers."""
        return self.gate.recording

    def _take_steps(self, steps: Iterator[Step]) -> Iterator[None]:
        for step in steps:
            if (self._stopped and self.finished) or self._draining is not None:
                return
            if self._stopped and not isinstance(step, (Recorded, AbortCheckpoint)):
                self._deferred.append(partial(self._do, step))
            elif isinstance(step, Records) and self._sorted is None:
                yield from self._process(decode_batch(step.payload), step.channel)
            elif isinstance(step, AdvanceTime) and self._sorted is not None:
                for batch, input_index in self._sorted.take(self._end_key):
                    self.operators[0].process_batch(batch, input_index)
                    yield
                self._do(step)
            else:
                self._do(step)
        self._barriers.watch(self.gate.pending)

    def _end_key(self) -> None:
        """End a key in BATCH mode: as in Flink, its state is dropped."""
        head = self.operators[0]
        if head.ends_keys:
            head.end_key()
            self._backends[self.descriptor.vertex.operators[0].operator_id].clear_keyed()

    def _process(self, batch: Batch, channel: ChannelKey) -> Iterator[None]:
        head, sizer, now = self.operators[0], self._sizer, self.services.clock.monotonic_s
        input_index = self.gate.inputs[channel]
        rest: Batch | None = batch
        while rest is not None:
            part, rest = cut(rest, min(sizer.size, self._most_at_once))
            self.records_in += part.records
            started_s = now()
            head.process_batch(part, input_index)
            seconds = now() - started_s
            sizer.took(len(part.values), seconds)
            self._flush_before(seconds)
            if rest is not None:
                self._rest = (channel, rest)
                yield
                if not self._goes_on():
                    return  # it is returned by the backlog later

    def _flush_before(self, seconds: float) -> None:
        """Flush buffers whose timeout would expire during a slice as long as the last one, like the thread of Flink's OutputFlusher."""
        now_ms = self.services.clock.now_ms()
        for writer in self.writers:
            writer.flush_before(seconds * 1e3, now_ms)

    @property
    def ahead(self) -> bool:
        """Return whether a receiver's limit of data in flight is exceeded."""
        return self._limited and any(w.ahead for w in self.writers)

    @property
    def _most_at_once(self) -> int:
        """Return how many records may be processed without a check of the data in flight."""
        if not self._limited:
            return MOST_RECORDS
        records_in = self.outputs[0].records_out if self._source is not None else self.records_in
        return min((most for w in self.writers if (most := w.inputs_at_once(records_in)) is not None), default=MOST_RECORDS)

    def _goes_on(self) -> bool:
        """Return whether the rest of a buffer is still to be processed now."""
        interrupted, self._rest = self._rest is None, None
        return not interrupted

    def _do(self, step: Step) -> None:
        head = self.operators[0]
        if isinstance(step, Records):
            batch = decode_batch(step.payload)
            self.records_in += batch.records
            if self._sorted is not None:
                self._sorted.add(batch, self.gate.inputs[step.channel])
        elif isinstance(step, AdvanceTime):
            head.context.watermark = step.timestamp
            head.process_watermark(step.timestamp)
        elif isinstance(step, ChangeStatus):
            head.process_status(step.idle)
        elif isinstance(step, TakeCheckpoint):
            self._take(step.barrier, step)
        elif isinstance(step, Recorded):
            self._acknowledge_recorded(step)
        elif isinstance(step, AbortCheckpoint):
            self._forget_recorded(step.checkpoint_id)
            self.services.send(DeclineCheckpoint(self.descriptor.key, step.checkpoint_id, "a newer barrier came first"))
        elif isinstance(step, InputEnded):
            head.end_input(step.input_index)
        elif isinstance(step, PassIterationBarrier):
            head.process_iteration_barrier(step.barrier)
        elif isinstance(step, PassMarker):
            return  # latency is measured by the clocks of sources and sinks
        if self.gate.ended and not self._ending and not self._stopped:
            self._finish()

    def poll(self) -> bool:
        """Let a source, or an operator that emits its results in parts, emit; return whether more is available now."""
        if self._emitting and not self._stopped:
            self._finish_on()
            return self._emitting
        source = self._source
        if source is None or self._ending or self._stopped or self._requested or self.paused:
            return False
        source.most_at_once = self._most_at_once
        started_s = self.services.clock.monotonic_s()
        status = source.poll()
        self._flush_before(self.services.clock.monotonic_s() - started_s)
        if source.checkpoint_requested:
            source.checkpoint_requested = False
            self._requested = True  # nothing more is read until it arrives
            self.services.send(RequestCheckpoint(self.descriptor.key))
        if status is InputStatus.END_OF_INPUT:
            source.end_of_input()
            self._finish()
            return self._emitting
        return status is InputStatus.MORE_AVAILABLE

    @property
    def paused(self) -> bool:
        """Return whether the task accepts no input for now: neither rows nor polls. All other work continues."""
        if self.finished:
            return False  # no more credits arrive
        full = any(operator.full for operator in self._holding) or self.ahead
        return full and not self._events.waiting and not self._stopped

    @property
    def polled(self) -> bool:
        """Return whether the task has to be polled."""
        return self._source is not None or self._emitting

    @property
    def _emitting(self) -> bool:
        return bool(self._unfinished) and self._unfinished[0].has_more  # type: ignore[index]

    @property
    def poll_interval_ms(self) -> int:
        """Return the delay (ms) after a poll without results."""
        return self._source.poll_interval_ms if self._source is not None else 1_000

    # Time

    def next_deadline_ms(self) -> int | None:
        """Return the wall-clock time (ms) of the next call of ``on_time``, or None."""
        deadlines = [d for w in self.writers if (d := w.deadline_ms()) is not None]
        if self._processing_timers and not self.paused and not self._stopped:
            deadlines.append(self._processing_timers[0][0])
        if self._flow is not None and (due_ms := self._flow.deadline_ms(self.services.clock.now_ms())) is not None:
            deadlines.append(due_ms)
        return min(deadlines, default=None)

    def on_time(self, now_ms: int) -> None:
        """Fire processing timers and flush timeouts that are due."""
        timers = self._processing_timers
        due: list[int] = []
        while timers and timers[0][0] <= now_ms and not self.paused and not self._stopped:
            due.append(heapq.heappop(timers)[1])
        for index in dict.fromkeys(due):
            # At the end, an operator that waits for results and those after it still run.
            if self._unfinished is None or self.operators[index] in self._unfinished:
                self.operators[index].on_processing_time(now_ms)
        if self._ending and not self._stopped:
            self._finish_on()
        for writer in self.writers:
            writer.on_time(now_ms)
        if self._flow is not None:
            self._tell_producers(self._flow.on_time(now_ms))

    def _tell_producers(self, taken: Taken | None) -> None:
        if taken is not None:
            place = (self.descriptor.level, self.descriptor.partition)
            self.services.send(InputTaken(self.descriptor.key, place, taken.bytes_by_channel, taken.window))

    def on_starved(self) -> None:
        """Let producers send more, as there is no input, unless receivers have not consumed half of the data sent to them."""
        if self._flow is not None and not self.paused and not any(w.half_way for w in self.writers):
            self._tell_producers(self._flow.on_idle())

    def on_idle(self, now_ms: int) -> int | None:
        """Send pending records if allowed, as there is nothing else to do; return the time (ms) of the next call, or None."""
        deadline: int | None = None
        self.on_starved()
        for writer in self.writers:
            writer.on_idle(now_ms)
            again = writer.idle_deadline_ms()
            if again is not None and (deadline is None or again < deadline):
                deadline = again
        return deadline

    # Control

    def on_control(self, message: ToTask) -> None:
        """Handle a message of the JobMaster."""
        if isinstance(message, TriggerCheckpoint):
            self._trigger(Barrier(message.checkpoint_id, message.timestamp_ms, message.savepoint))
        elif isinstance(message, EventToOperator):
            self._events.on_event(message)
        elif isinstance(message, AssignSplits):
            if self._source is not None:
                self._source.add_splits(message.splits)
        elif isinstance(message, NoMoreSplits):
            if self._source is not None:
                self._source.reader.notify_no_more_splits()
        elif isinstance(message, LimitOutput):
            self._limit_output(message)
        elif isinstance(message, OvertakeBarriers):
            self._overtake(Barrier(message.checkpoint_id, message.timestamp_ms, message.savepoint))
        elif isinstance(message, CheckpointComplete):
            self._checkpoint_complete(message.checkpoint_id)
        elif isinstance(message, CheckpointAborted):
            self._checkpoint_aborted(message.checkpoint_id)

    def _limit_output(self, message: LimitOutput) -> None:
        for out, writer in zip(self.descriptor.outputs, self.writers, strict=True):
            if out.edge in message.taken:
                writer.limit(message.window, taken=message.taken[out.edge], target=message.target)

    def _checkpoint_complete(self, checkpoint_id: int) -> None:
        for operator in self.operators:
            operator.notify_checkpoint_complete(checkpoint_id)
        if self._copies is not None:
            self.services.run_async(partial(self._copies.prune, checkpoint_id), _nothing)
        if checkpoint_id == self._stopped_by:
            self.finished = True

    def _checkpoint_aborted(self, checkpoint_id: int) -> None:
        self.gate.abort(checkpoint_id)
        self._barriers.given_up()
        self._forget_recorded(checkpoint_id)
        if self._triggered is not None and self._triggered.checkpoint_id <= checkpoint_id:
            self._triggered = None
        if self._stopped_by == checkpoint_id and not self.finished:
            self._resume()
        self._events.passed(checkpoint_id)

    def _resume(self) -> None:
        """Continue after the failed savepoint to stop the job with, first with the input since its barrier."""
        self._stopped_by = None
        self.gate.suspended = False
        deferred, self._deferred = self._deferred, []
        for each in deferred:
            each()
        if self._ending:
            self._finish_on()
        elif self._source is None and self.gate.ended:
            self._finish()

    def _deliver(self, event: EventToOperator) -> None:
        if self._stopped:
            self._deferred.append(partial(self._deliver, event))
            return
        for described, operator in zip(self.descriptor.vertex.operators, self.operators, strict=True):
            if described.operator_id == event.operator_id and (self._unfinished is None or operator in self._unfinished):
                operator.on_event(event.event)
        if self._ending:
            self._finish_on()

    # Checkpoints

    def _trigger(self, barrier: Barrier) -> None:
        """Begin a checkpoint without barriers from channels, as this is a source or all tasks before it have finished."""
        if self.finished or barrier.checkpoint_id <= self._epoch:
            return
        if self._source is not None:
            self._requested = False
            self._source.process_pending()
            self._take(barrier)
        elif self._ending:
            self._take(barrier)
        else:
            self._triggered = barrier  # data of upstream tasks is still in flight

    def _overtake(self, barrier: Barrier) -> None:
        """Take part in the checkpoint now; the rest of a partially processed buffer counts as in flight."""
        if barrier.checkpoint_id > self._epoch:
            self.interrupt()
        for step in self.gate.overtake(barrier):
            self._do(step)
        self._barriers.watch(self.gate.pending)

    def _take(self, barrier: Barrier, taken: TakeCheckpoint | None = None) -> None:
        """Take part in a checkpoint; before a savepoint that drains the job, process all input to its end."""
        if barrier.savepoint is None or not barrier.savepoint.drain:
            self._checkpoint(barrier, taken)
            return
        self._draining = barrier
        if self._ending:
            return  # the source has ended by itself
        if self._source is not None:
            self._source.end_of_input(drain=True)
        for input_index in self.gate.open_inputs:
            self.operators[0].end_input(input_index)
        self._finish()

    @property
    def _stopped(self) -> bool:
        """Return whether the task has taken the savepoint that stops the job: nothing more is processed or emitted."""
        return self._stopped_by is not None

    def _checkpoint(self, barrier: Barrier, taken: TakeCheckpoint | None = None) -> None:
        """Step 1: emit pending results, then the barrier. Step 2: take the synchronous part. Step 3 (async): write. Step 4: acknowledge.

        In an unaligned checkpoint step 3 waits for the barriers that step 2 did not wait for.
        """
        clock = self.services.clock
        started_s = clock.monotonic_s()
        self.services.reached("before-barrier")
        for operator in self.operators:
            operator.prepare_snapshot(barrier.checkpoint_id)
        for writer in self.writers:
            writer.broadcast_event(barrier)
        self._epoch = barrier.checkpoint_id
        self.services.reached("before-snapshot")
        savepoint = barrier.savepoint
        if savepoint is not None and savepoint.stop:
            self._stopped_by = barrier.checkpoint_id
            self.gate.suspended = True
        pending = self._take_snapshot(barrier.checkpoint_id, barrier.timestamp_ms, full=savepoint is not None)
        pending.measured(sync_ms=(clock.monotonic_s() - started_s) * 1e3)
        if taken is not None and taken.unaligned:
            self._barriers.watch(barrier)
            self._recorded = (barrier, pending)
        else:
            held_bytes, processed_bytes = (taken.held_bytes, taken.processed_bytes) if taken is not None else (0, 0)
            alignment_ms, start_delay_ms = self._barriers.complete(barrier)
            pending.measured(
                alignment_ms=alignment_ms, start_delay_ms=start_delay_ms, aligned_bytes=held_bytes, processed_bytes=processed_bytes
            )
            self._upload(barrier, pending)
        self._events.passed(barrier.checkpoint_id)

    def _acknowledge_recorded(self, step: Recorded) -> None:
        """Add the recorded buffers to the checkpoint, as all barriers have arrived."""
        if self._recorded is None:
            return
        (barrier, pending), self._recorded = self._recorded, None
        alignment_ms, start_delay_ms = self._barriers.complete(barrier)
        pending.measured(alignment_ms=alignment_ms, start_delay_ms=start_delay_ms, processed_bytes=step.processed_bytes, unaligned=True)
        if step.buffers:
            head = self.descriptor.vertex.operators[0].operator_id
            pending.add_in_flight(head, InFlightSnapshot(step.buffers, self.descriptor.input_edges))
        self._upload(barrier, pending)

    def _forget_recorded(self, checkpoint_id: int) -> None:
        if self._recorded is not None and self._recorded[0].checkpoint_id <= checkpoint_id:
            self._snapshot_failed(self._recorded[0].checkpoint_id)
            self._recorded = None

    def _upload(self, barrier: Barrier, pending: PendingSnapshot) -> None:
        key, savepoint = self.descriptor.key, barrier.savepoint

        def acknowledge(snapshot: TaskSnapshot | None, error: BaseException | None) -> None:
            if snapshot is not None:
                self.services.reached("before-ack")
                self.services.send(AckCheckpoint(key, barrier.checkpoint_id, snapshot))
                self.services.reached("after-ack")
            else:
                self._snapshot_failed(barrier.checkpoint_id)
                self.services.send(DeclineCheckpoint(key, barrier.checkpoint_id, f"{type(error).__name__}: {error}"))

        self._write(barrier.checkpoint_id, pending, acknowledge, None if savepoint is None else savepoint.directory)

    def _take_snapshot(self, checkpoint_id: int, timestamp_ms: int, *, full: bool = False) -> PendingSnapshot:
        pending = PendingSnapshot(self.services.clock)
        for described, operator in zip(self.descriptor.vertex.operators, self.operators, strict=True):
            taken = operator.snapshot_state(checkpoint_id, timestamp_ms)
            backend = self._backends[described.operator_id]
            pending.add(described.operator_id, taken, backend.snapshot(checkpoint_id, full=full) if backend.used else None)
        return pending

    def _write(
        self,
        checkpoint_id: int,
        pending: PendingSnapshot,
        done: Callable[[TaskSnapshot | None, BaseException | None], None],
        savepoint: str | None = None,
    ) -> None:
        writer = self.services.state_writer(savepoint)
        copies = self._copies if savepoint is None else None

        def write() -> TaskSnapshot:
            snapshot = pending.write(writer)
            if copies is not None:
                copies.keep(checkpoint_id, files_of(snapshot))
            return snapshot

        self.services.run_async(write, done)

    def _snapshot_failed(self, checkpoint_id: int) -> None:
        for backend in self._backends.values():
            backend.snapshot_failed(checkpoint_id)

    # End

    @property
    def _ending(self) -> bool:
        return self._unfinished is not None

    def _finish(self) -> None:
        """Let the operators emit their remaining results one after the other, as all input is processed; then finish."""
        self._unfinished = deque(self.operators)
        self._finish_on()
        if self._triggered is not None:
            self._trigger(self._triggered)

    def _finish_on(self) -> None:
        """Continue to finish until an operator waits for results."""
        while self._unfinished:
            operator = self._unfinished[0]
            operator.finish()
            if operator.busy or operator.has_more:
                return
            self._unfinished.popleft()
        if self._draining is not None:
            barrier, self._draining = self._draining, None
            self._checkpoint(barrier)
        elif not self.finished and not self._stopped:
            self.finished = True
            self._send_last_state()

    def _send_last_state(self) -> None:
        """Send the final state, and end the channels."""
        key, epoch = self.descriptor.key, self._epoch
        last = epoch + 1
        pending = self._take_snapshot(last, self.services.clock.now_ms())

        def report(snapshot: TaskSnapshot | None, error: BaseException | None) -> None:
            if snapshot is not None:
                self.services.send(TaskFinished(key, snapshot, epoch=epoch))
            elif isinstance(error, StateTooLargeError) and not self.descriptor.config.get("execution.checkpointing.enabled"):
                # Without checkpoints it is never read.
                self.services.send(TaskFinished(key, pending.without_state(), error.message, epoch))
            else:
                raise error or RuntimeError("the final snapshot gave no result")

        self._write(last, pending, report)
        for writer in self.writers:
            writer.broadcast_event(EndOfInput())

    # Metrics

    def metrics(self) -> dict[str, Any]:
        """Return the task's counters under Flink's names."""
        values: dict[str, Any] = {
            "numRecordsIn": self.records_in,
            "numRecordsOut": sum(w.records_out for w in self.writers),
            "numBytesOut": self.rows.bytes_out,
            "numBuffersOut": self.rows.buffers_out,
            "currentInputWatermark": self.gate.valve.current,
            "currentOutputWatermark": self.outputs[0].watermark,
            "heldBytes": self.gate.held_bytes,
            "backlogBytes": self.gate.backlog_bytes,
            **self._barriers.metrics(),
            **({} if self._sorted is None else {"spilledBytes": self._sorted.spilled_bytes}),
            **({} if self._copies is None else self._copies.metrics()),
            "stateSize": sum(b.size_bytes() for b in self._backends.values()),
        }
        for described, output in zip(self.descriptor.vertex.operators, self.outputs, strict=True):
            values[f"{described.name}.numRecordsOut"] = output.records_out
        values.update(self._metrics.snapshot())
        return values

    def progress(self, *, queued_bytes: int = 0, busy_s: float = 0.0) -> TaskProgress:
        """Return the progress of the task with the pending checkpoint. Thread-safe.

        Args:
            queued_bytes: Data queued for the task outside of it.
            busy_s: Duration of the present call of a user function.
        """
        in_flight = {
            (out.edge, subtask): sent
            for out, writer in zip(self.descriptor.outputs, self.writers, strict=True)
            for subtask, sent in enumerate(writer.in_flight)
            if sent
        }
        gate = self.gate
        pending = gate.pending
        return TaskProgress(
            self.descriptor.key,
            passed=self._epoch,
            aligning=0 if pending is None else pending.checkpoint_id,
            missing=gate.missing_barriers,
            waiting_bytes=queued_bytes + gate.backlog_bytes + gate.held_bytes,
            recording=gate.recording,
            busy_s=busy_s,
            in_flight=in_flight,
        )

    def barrier_metrics(self) -> dict[str, int]:
        """Return the metrics that grow while the task waits for barriers. Thread-safe."""
        return self._barriers.metrics()


def _nothing(result: None, error: BaseException | None) -> None:
    """Ignore the outcome of background work."""
    if error is not None:
        raise error


def _memory_per_user(descriptor: TaskDescriptor) -> int:
    """Return the share of the task's managed memory of each operator that uses some."""
    users = sum(o.kind.startswith("batch_") for o in descriptor.vertex.operators) + sorts_input(descriptor)
    return int(descriptor.config.get("taskmanager.memory.managed.size", 64 << 20)) // max(1, users)
