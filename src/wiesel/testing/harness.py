"""Harness of one operator: push records and time, read the output, inspect its state, take and restore snapshots."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any

from wiesel.core import code_pickling
from wiesel.core import options as opt
from wiesel.core.argument_checks import require_count, require_instance
from wiesel.core.clock import ManualClock
from wiesel.core.ids import MAX_TIMESTAMP
from wiesel.core.metrics import MetricRegistry, merge_counts
from wiesel.core.temporary import make_directory, remove_directory
from wiesel.core.user_location import program_error
from wiesel.engine.deployment import share_out
from wiesel.runtime.input_gate import WatermarkValve
from wiesel.runtime.operator import OperatorContext, Output
from wiesel.runtime.registry import make_operator
from wiesel.spi.output_tag import OutputTag
from wiesel.spi.state import StateDescriptor
from wiesel.state.factory import make_backend
from wiesel.state.key_groups import key_group_range
from wiesel.testing._definition import Definition, plan_operator
from wiesel.testing._driver import OperatorDriver, finish_all, run_clock
from wiesel.testing._inputs import HarnessInput, checked_records, checked_timestamp
from wiesel.testing._inspection import InspectedBackend, Timer
from wiesel.testing.events import Event, EventLog, MergedOutput, Record, SideRecord, Watermark
from wiesel.testing.snapshots import OperatorSnapshot, files_in_memory
from wiesel.types.typeinfo import TypeInformation

__all__ = ["StreamHarness"]


class StreamHarness:
    """Runs one operator in this thread, with a manual clock.

    ::

        with StreamHarness(lambda orders: orders.key_by(customer).window(an_hour).reduce(add)) as harness:
            harness.push({"customer": "ann", "sum": 3}, timestamp=1_000)
            harness.advance_watermark(3_600_000)
            assert harness.values == [{"customer": "ann", "sum": 3}]

    The operator is the one that a job would run: it is created by the same planner from the same calls, gets a pickled and unpickled copy
    of the functions as in a worker, and stores its state in a real state backend. For single functions see :func:`function_harness`; for
    several operators in a pipeline, see :func:`local_environment`.

    Args:
        define: Gets one stream per input, returns the stream of the operator over them.
        parallelism: Number of subtasks. Records are distributed as in a job; by key for keyed streams, otherwise round-robin.
        max_parallelism: Number of key groups.
        state_backend: ``hashmap``, ``lmdb`` or ``rocksdb``.
        start_time: Processing time at the start, in ms since the epoch.
        input_types: The declared types of the inputs, if needed by the operator.
        config: Further options of the job, by key.
        restore_from: The snapshot of another harness to restore, possibly of an older version of the same operator.
        ship: Copy the functions by pickling. False runs the given objects (such as mocks), with one subtask only.

    Raises:
        ProgramError: If the definition is invalid; or, from the methods, on invalid use.
        SerializationError: If a function cannot be shipped to workers.
    """

    def __init__(
        self,
        define: Definition,
        *,
        parallelism: int = 1,
        max_parallelism: int | None = None,
        state_backend: str = "hashmap",
        start_time: int = 0,
        input_types: Sequence[TypeInformation | None] | None = None,
        config: Mapping[str, Any] | None = None,
        restore_from: OperatorSnapshot | None = None,
        ship: bool = True,
    ) -> None:
        self._arguments = {name: value for name, value in locals().items() if name not in ("self", "define", "restore_from")}
        self._define = define
        require_count(parallelism, "parallelism")
        if not ship and parallelism > 1:
            raise program_error("ship=False is for one subtask, as all would share the functions", "leave parallelism at 1")
        if restore_from is not None:
            require_instance(restore_from, OperatorSnapshot, "restore_from", "give the result of snapshot() of a harness")
        settings = {opt.STATE_BACKEND.key: state_backend, **(config or {})}
        plan = plan_operator(define, input_types, settings, parallelism=parallelism, max_parallelism=max_parallelism, shipped=ship)
        self._closed = False
        self._clock = ManualClock(checked_timestamp(start_time, "start_time"))
        self._log = EventLog()
        self._checkpoint_id = 0 if restore_from is None else restore_from.checkpoint_id
        self._local_dir = make_directory("wiesel-harness-")
        self._drivers: list[OperatorDriver] = []
        self._backends: list[InspectedBackend] = []
        self._metrics: list[MetricRegistry] = []
        self._plan = plan
        self._inputs = [HarnessInput(edge, plan.vertex) for edge in plan.inputs]
        self._valve = WatermarkValve([(0, i) for i in range(len(self._inputs))])
        try:
            self._start(restore_from, ship)
        except BaseException:
            self._closed = True
            self._release()
            raise

    def _start(self, restore_from: OperatorSnapshot | None, ship: bool) -> None:
        parallelism = self._plan.vertex.parallelism
        merged = MergedOutput(self._log, parallelism)
        for subtask in range(parallelism):
            self._drivers.append(self._driver(subtask, self._log if parallelism == 1 else merged.of(subtask), ship))
        for subtask, driver in enumerate(self._drivers):
            if restore_from is not None:
                old = dict(enumerate(restore_from.subtasks))
                given = share_out(self._plan.vertex, subtask, old, restore_from.parallelism)
                driver.restore(given.states, files_in_memory("restored"))
            driver.open()

    def _driver(self, subtask: int, output: Output, ship: bool) -> OperatorDriver:
        vertex, config = self._plan.vertex, self._plan.task_config
        described = vertex.operators[0]
        spec = described.node.operator
        payload = pickle.loads(code_pickling.dumps(spec.payload)) if ship else spec.payload
        backend = InspectedBackend(
            lambda: make_backend(
                described.node.state_backend or str(config.get(opt.STATE_BACKEND.key)),
                operator_id=described.operator_id,
                subtask=subtask,
                parallelism=vertex.parallelism,
                key_group_range=key_group_range(subtask, vertex.max_parallelism, vertex.parallelism),
                local_dir=self._local_dir,
                clock=self._clock,
                options=config,
            )
        )
        metrics = MetricRegistry(self._clock)
        self._backends.append(backend)
        self._metrics.append(metrics)
        context = OperatorContext(
            operator_id=described.operator_id,
            name=described.node.name,
            uid=described.node.uid,
            subtask_index=subtask,
            parallelism=vertex.parallelism,
            max_parallelism=vertex.max_parallelism,
            attempt=1,
            job_id="test",
            job_name="test",
            task_name=vertex.name,
            clock=self._clock,
            backend=backend,
            metrics=metrics.group(),
            job_parameters=dict(config.get(opt.GLOBAL_JOB_PARAMETERS.key) or {}),
            config=config,
            register_processing_timer=lambda at_ms: None,
            error_policy=str(config.get(opt.USER_ERROR_POLICY.key, "fail")),
            restored_checkpoint_id=self._checkpoint_id,
            user_location=described.node.user_location,
        )
        return OperatorDriver(make_operator(spec.kind, spec.params, payload), context, output)

    # Records and time in.

    def push(self, value: Any, timestamp: int | None = None, *, input: int = 1) -> None:  # noqa: A002 - as streams are counted
        """Hand in a record.

        Args:
            value: The record.
            timestamp: Its event time in ms, None for none.
            input: Which input, counted from 1.

        Raises:
            UserFunctionError: A function raised.
        """
        self._push([value], None if timestamp is None else [timestamp], input)

    def push_all(self, values: Iterable[Any], timestamps: Iterable[int] | None = None, *, input: int = 1) -> None:  # noqa: A002
        """Push several records at once, as in one buffer.

        Args:
            values: The records.
            timestamps: Their event times in ms, None if they have none.
            input: The input, counted from 1.

        Raises:
            UserFunctionError: If a function raised.
        """
        self._push(list(values), None if timestamps is None else list(timestamps), input)

    def _push(self, values: list[Any], timestamps: list[int] | None, number: int) -> None:
        index = self._input_index(number)
        checked_records(values, timestamps)
        self._activate(index)
        for subtask, batch in self._inputs[index].share_out(values, timestamps):
            self._drivers[subtask].process(batch, index)

    def advance_watermark(self, timestamp: int, *, input: int | None = None) -> None:  # noqa: A002
        """Advance event time; that of the operator is the minimum of its inputs' watermarks.

        Args:
            timestamp: The watermark in ms.
            input: The input, counted from 1; None for all.
        """
        checked_timestamp(timestamp, "a watermark")
        chosen = self._open_inputs(input)
        for index in chosen:
            before = self._inputs[index].watermark
            if timestamp < before:
                where = f" of input {index + 1}" if len(self._inputs) > 1 else ""
                raise program_error(f"the watermark{where} cannot go back from {before} to {timestamp}", "watermarks only rise")
        reached = None
        for index in chosen:
            self._inputs[index].watermark = timestamp
            self._activate(index)
            advanced = self._valve.watermark((0, index), timestamp)
            reached = reached if advanced is None else advanced
        self._advanced(reached)

    def set_idle(self, idle: bool = True, *, input: int | None = None) -> None:  # noqa: A002
        """Mark inputs idle, so that they do not hold back event time; a record or a watermark makes an input active again.

        Args:
            idle: True for idle, False for active.
            input: The input, counted from 1; None for all.
        """
        for index in self._open_inputs(input):
            advanced, changed = self._valve.status((0, index), idle)
            self._advanced(advanced)
            self._status(changed)

    def _activate(self, index: int) -> None:
        self._status(self._valve.status((0, index), False)[1])

    def _advanced(self, timestamp: int | None) -> None:
        if timestamp is not None:
            for driver in self._drivers:
                driver.watermark(timestamp)

    def _status(self, idle: bool | None) -> None:
        if idle is not None:
            for driver in self._drivers:
                driver.status(idle)

    def end_input(self, *, input: int | None = None) -> None:  # noqa: A002
        """End inputs as bounded ones, with the watermark :data:`END_OF_TIME`; when all have ended the operator finishes.

        Args:
            input: The input, counted from 1; None for all remaining ones.
        """
        for index in self._open_inputs(input):
            self.advance_watermark(MAX_TIMESTAMP, input=index + 1)
            self._inputs[index].ended = True
            for driver in self._drivers:
                driver.operator.end_input(index)
            if all(i.ended for i in self._inputs):
                finish_all(self._clock, self._drivers)
            else:
                self._advanced(self._valve.finish((0, index))[0])

    def set_processing_time(self, now: int) -> None:
        """Advance the clock to ``now`` (ms since the epoch), firing the timers of the operator on the way."""
        self._check_open()
        checked_timestamp(now, "a processing time")
        if now < self.processing_time:
            raise program_error(f"the processing time cannot go back from {self.processing_time} to {now}", "give a later time")
        run_clock(self._clock, self._drivers, now)

    def advance_processing_time(self, by: int) -> None:
        """Advance the clock by this many ms; see :meth:`set_processing_time`."""
        self.set_processing_time(self.processing_time + by)

    @property
    def processing_time(self) -> int:
        """The clock, in ms since the epoch."""
        return self._clock.now_ms()

    @property
    def watermark(self) -> int:
        """The event time that the operator has reached; the smallest number of 64 bits before the first watermark."""
        return self._valve.current

    # Output

    @property
    def output(self) -> list[Event]:
        """The output, in order: :class:`Record`, :class:`SideRecord`, :class:`Watermark` and :class:`WatermarkStatus`."""
        return list(self._log.events)

    @property
    def records(self) -> list[Record]:
        """The records of the main output, with timestamps."""
        return [event for event in self._log.events if isinstance(event, Record)]

    @property
    def values(self) -> list[Any]:
        """The values of the main output."""
        return [record.value for record in self.records]

    def side_records(self, tag: OutputTag | str) -> list[Record]:
        """Return the records of a side output, with timestamps."""
        require_instance(tag, (OutputTag, str), "a side output", "give its OutputTag, or its name")
        name = tag.tag_id if isinstance(tag, OutputTag) else tag
        return [Record(e.value, e.timestamp) for e in self._log.events if isinstance(e, SideRecord) and e.tag == name]

    def side_output(self, tag: OutputTag | str) -> list[Any]:
        """Return the values of a side output."""
        return [record.value for record in self.side_records(tag)]

    @property
    def watermarks(self) -> list[int]:
        """The emitted watermarks, in ms."""
        return [event.timestamp for event in self._log.events if isinstance(event, Watermark)]

    def take(self) -> list[Event]:
        """Return and clear the output so far."""
        events = self.output
        self._log.events.clear()
        self._log.batches.clear()
        return events

    # State

    def state(self, key: Any, *, window: Any = None) -> dict[str, Any]:
        """Return the state of a key, by state name; empty states are omitted.

        Lists are returned as lists and maps as dicts; aggregating state as its accumulator.

        Args:
            key: The key.
            window: For per-window state of a trigger or window function.
        """
        return self._backend_of(key).state_of(key, window)

    def windows(self, key: Any) -> dict[Any, Any]:
        """Return the nonempty windows of a key: the list of their elements, the reduced value, or the accumulator.

        For windows that share slices (``share_slices()``), the slices are returned. For windows with an evictor the elements have their
        timestamps: ``(element, ms)``.
        """
        return self._backend_of(key).windows_of(key)

    def broadcast_state(self, state: StateDescriptor | str) -> dict[Any, Any]:
        """Return the entries of a broadcast state.

        Args:
            state: Its descriptor, or its name.

        Raises:
            AssertionError: If the subtasks differ, so the function does not change the state in the same way on all of them.
        """
        name = _name_of(state)
        entries = self._known(name, [backend.broadcast_state(name) for backend in self._backends], "broadcast state")
        first: dict[Any, Any] = entries[0]
        if any(other != first for other in entries):
            raise AssertionError(f"the subtasks hold different entries of the broadcast state {name!r}: {entries}")
        return first

    def operator_state(self, state: StateDescriptor | str) -> list[list[Any]]:
        """Return the entries of an operator list state, one list per subtask.

        A function updates such state for a snapshot; before the first one it may be empty.

        Args:
            state: Its descriptor, or its name.
        """
        name = _name_of(state)
        return self._known(name, [backend.operator_list(name) for backend in self._backends], "operator list state")

    def _known(self, name: str, found: list[Any], what: str) -> list[Any]:
        self._check_open()
        if any(entries is None for entries in found):
            raise program_error(
                f"{self._plan.vertex.name} has no {what} {name!r}", "check the name, and that the function has asked for it"
            )
        return found

    def _backend_of(self, key: Any) -> InspectedBackend:
        self._check_open()
        selectors = [i for i in self._inputs if i.keyed]
        if not selectors:
            raise program_error(f"{self._plan.vertex.name} does not run on a keyed stream, so it has no keyed state", "call key_by() first")
        return self._backends[selectors[0].subtask_of(key)]

    @property
    def event_time_timers(self) -> list[Timer]:
        """The timers of event time that have not fired, earliest first."""
        return self._timers("event")

    @property
    def processing_time_timers(self) -> list[Timer]:
        """The timers of processing time that have not fired, earliest first."""
        return self._timers("processing")

    def _timers(self, queue: str) -> list[Timer]:
        self._check_open()
        return sorted((t for b in self._backends for t in b.timers_of(queue)), key=lambda timer: timer.timestamp)

    def metric(self, name: str) -> Any:
        """Return a metric of the operator or its functions, aggregated over the subtasks, e.g. ``numLateRecordsDropped``.

        Args:
            name: Its name, preceded by its groups: ``group.name``.
        """
        found = merge_counts([registry.snapshot() for registry in self._metrics])
        if name not in found:
            known = ", ".join(sorted(found)) or "none yet"
            raise program_error(f"there is no metric {name!r}", f"known are: {known}")
        return found[name]

    # Snapshots and the end

    def snapshot(self) -> OperatorSnapshot:
        """Take a snapshot, as in a checkpoint; the operator continues.

        A test restores it with :meth:`restored`, or with ``restore_from`` for a changed operator.
        """
        self._check_open()
        self._checkpoint_id += 1
        vertex = self._plan.vertex
        files = files_in_memory(str(self._checkpoint_id))
        taken = tuple(driver.snapshot(self._checkpoint_id, files) for driver in self._drivers)
        return OperatorSnapshot(self._checkpoint_id, vertex.parallelism, vertex.max_parallelism, taken)

    def restored(self, snapshot: OperatorSnapshot, **changed: Any) -> StreamHarness:
        """Return a new harness for the same operator, restored from a snapshot.

        Its time is that of this harness; its output is empty.

        Args:
            snapshot: The result of :meth:`snapshot`.
            changed: Changed arguments of the harness, e.g. ``parallelism=3`` or ``state_backend="lmdb"``.
        """
        arguments = {**self._arguments, "start_time": self.processing_time, **changed}
        if arguments["max_parallelism"] is None:
            arguments["max_parallelism"] = snapshot.max_parallelism
        return StreamHarness(self._define, **arguments, restore_from=snapshot)

    def close(self) -> None:
        """Close the operator and its functions. The output can still be read."""
        if not self._closed:
            self._closed = True
            self._release()

    def _release(self) -> None:
        first: BaseException | None = None
        for driver in self._drivers:
            try:
                driver.close()
            except Exception as error:  # noqa: BLE001 - the others must be closed as well; raised below
                first = first or error
        remove_directory(self._local_dir)
        if first is not None:
            raise first

    def __enter__(self) -> StreamHarness:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    # Checks.

    def _check_open(self) -> None:
        if self._closed:
            raise program_error("the harness is closed", "use it inside the `with`, or before close()")

    def _input_index(self, number: int) -> int:
        self._check_open()
        require_count(number, "input", maximum=len(self._inputs))
        if self._inputs[number - 1].ended:
            which = f"input {number}" if len(self._inputs) > 1 else "the input"
            raise program_error(f"{which} has ended", "do this before end_input()")
        return number - 1

    def _open_inputs(self, number: int | None) -> list[int]:
        self._check_open()
        if number is not None:
            return [self._input_index(number)]
        found = [index for index, i in enumerate(self._inputs) if not i.ended]
        return found or [self._input_index(1)]


def _name_of(state: StateDescriptor | str) -> str:
    require_instance(state, (StateDescriptor, str), "a state", "give its descriptor, or its name")
    return state.name if isinstance(state, StateDescriptor) else state
