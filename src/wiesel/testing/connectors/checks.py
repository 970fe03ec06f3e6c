"""Conformance checks of sinks and sources, and their reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from wiesel.common import WatermarkStrategy
from wiesel.connectors.base import DeliveryGuarantee
from wiesel.spi.sink import Sink
from wiesel.spi.source import Boundedness, Source
from wiesel.testing.collected import CollectedStream
from wiesel.testing.connectors.instruments import DIVISIBLE, Fault, Faults, instrumented_sink, instrumented_source
from wiesel.testing.connectors.runs import POINTS, Run
from wiesel.testing.environment import LocalEnvironment
from wiesel.testing.source import ManualSource
from wiesel.types.typeinfo import TypeInformation

__all__ = ["ConformanceError", "ConformanceReport", "SinkTarget", "SourceTarget", "check_sink", "check_source"]

_SHOWN = 5
_ACTIONS = 14
_PASSAGES = 2


@dataclass(frozen=True)
class SinkTarget:
    """A sink and its own empty target.

    Attributes:
        sink: The sink.
        visible: Returns the records visible to readers of the external system, with duplicates.
    """

    sink: Sink
    visible: Callable[[], Iterable[Any]]


@dataclass(frozen=True)
class SourceTarget:
    """A source and its expected records.

    Attributes:
        source: The source.
        expected: All records, in any order.
        feed: Called between the steps of a run, for sources of systems that are written to concurrently.
        order_of: Returns the sequence of a record, such as its partition. The records of one sequence must arrive in the order of
            ``expected``. None: the order is ignored.
    """

    source: Source[Any]
    expected: Sequence[Any]
    feed: Callable[[], None] | None = None
    order_of: Callable[[Any], Any] | None = None


class ConformanceError(AssertionError):
    """A connector violates its guarantee. The message has the wrong records and the events of the run."""


@dataclass
class ConformanceReport:
    """The result of a check.

    Attributes:
        guarantee: The verified guarantee.
        runs: The number of jobs.
        faults: The number of failures at each point and in each call of the connector.
        calls: The number of calls of each method of the connector.
    """

    guarantee: DeliveryGuarantee
    runs: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class _Plan:
    """A run: with one fault in a fixed course of events, or with random events and faults by the seed."""

    seed: int
    fault: Fault | None = None
    is_random: bool = False

    def __str__(self) -> str:
        if self.is_random:
            return f"seed {self.seed}"
        return "the run without failures" if self.fault is None else f"the run with a failure {self.fault}"


class _Sinks:
    """Runs of a sink: records are pushed, and the target is read at the end."""

    def __init__(self, make: Callable[[], SinkTarget], record: Callable[[int], Any], type_info: TypeInformation | None) -> None:
        self._make = make
        self._record = record
        self._type = type_info

    def begin(self, plan: _Plan, faults: Faults, rescales: bool) -> Run:
        target = self._make()
        sink, self._visible = instrumented_sink(target.sink, faults), target.visible
        self._numbers = ManualSource(splits=2, type_info=self._type)
        self._pushed = 0

        def build(env: LocalEnvironment) -> None:
            stream = env.from_source(self._numbers, WatermarkStrategy.no_watermarks(), "records", self._type).uid("records")
            stream.rebalance().sink_to(sink).uid("sink")

        self.run = Run(build, faults, seed=plan.seed, parallelism=2, rescales=rescales)
        return self.run

    def input(self) -> None:
        """Push some records to each split."""
        if self.run.ended:
            return
        count = self.run.random.randrange(2, 9)
        self.run.story.append(f"{count} records")
        for number in range(self._pushed, self._pushed + count):
            self._numbers.push(self._record(number), split=number % 2)
        self._pushed += count

    def end(self) -> tuple[list[Any], list[Any]]:
        """End the run; return the expected records and the visible ones."""
        self.run.finish()
        return [self._record(number) for number in range(self._pushed)], list(self._visible())


class _Sources:
    """Runs of a source: its records are collected exactly once."""

    def __init__(self, make: Callable[[], SourceTarget]) -> None:
        self._make = make

    def begin(self, plan: _Plan, faults: Faults, rescales: bool) -> Run:
        self._target = self._make()
        self._expected = list(self._target.expected)
        source = instrumented_source(self._target.source, faults)

        def build(env: LocalEnvironment) -> CollectedStream:
            return env.collect(env.from_source(source, WatermarkStrategy.no_watermarks(), "source").uid("source"))

        self.run = Run(build, faults, seed=plan.seed, parallelism=2, rescales=rescales)
        return self.run

    def input(self) -> None:
        """Write more data to the external system, and let some of it be read."""
        if self._target.feed is not None:
            self._target.feed()
        self.run.step(self.run.random.randrange(1, 30))

    def end(self) -> tuple[list[Any], list[Any]]:
        """End the run; return the expected records and the received ones."""
        if self._target.source.boundedness is Boundedness.BOUNDED:
            self.run.finish()
        else:
            self.run.wait_for(lambda: len(self.run.collected) >= len(self._expected))
        return self._expected, self.run.collected

    def disorder(self) -> str | None:
        """Return the sequence with a wrong order, None if there is none."""
        order_of = self._target.order_of
        if order_of is None:
            return None
        wanted, found = _sequences(self._expected, order_of), _sequences(self.run.collected, order_of)
        wrong = next((name for name in wanted if found.get(name) != wanted[name]), None)
        return None if wrong is None else f"the records of {wrong!r} came in the order {_listed(found.get(wrong, []))}"


def check_sink(
    make: Callable[[], SinkTarget],
    *,
    guarantee: DeliveryGuarantee = DeliveryGuarantee.EXACTLY_ONCE,
    record: Callable[[int], Any] = int,
    type_info: TypeInformation | None = None,
    seeds: int | Iterable[int] = 25,
    rescales: bool = True,
) -> ConformanceReport:
    """Run a sink through failures and compare the visible records at the end with the written ones.

    Args:
        make: Returns the sink with its own target; called once for each run.
        guarantee: The guarantee to verify.
        record: Returns the record of a number from 0 on. Records of different numbers must be different.
        type_info: The declared type of the records.
        seeds: The seeds of the random runs, or their number.
        rescales: Change the parallelism in runs.

    Raises:
        ConformanceError: If the guarantee is violated, or a job failed otherwise than by an injected failure.
    """
    return _check("check_sink", _Sinks(make, record, type_info), guarantee, seeds, rescales)


def check_source(
    make: Callable[[], SourceTarget],
    *,
    guarantee: DeliveryGuarantee = DeliveryGuarantee.EXACTLY_ONCE,
    seeds: int | Iterable[int] = 25,
    rescales: bool = True,
) -> ConformanceReport:
    """Run a source through failures and compare the records received by a job at the end with the expected ones.

    Args:
        make: Returns the source with its expected records; called once for each run.
        guarantee: The guarantee to verify.
        seeds: The seeds of the random runs, or their number.
        rescales: Change the parallelism in runs.

    Raises:
        ConformanceError: If the guarantee is violated, or a job failed otherwise than by an injected failure.
    """
    return _check("check_source", _Sources(make), guarantee, seeds, rescales)


def _check(
    name: str, runs: _Sinks | _Sources, guarantee: DeliveryGuarantee, seeds: int | Iterable[int], rescales: bool
) -> ConformanceReport:
    report = ConformanceReport(guarantee)
    _carry_out(name, runs, _Plan(0), report, rescales)
    for plan in _plans(Counter(report.calls), range(seeds) if isinstance(seeds, int) else seeds):
        _carry_out(name, runs, plan, report, rescales)
    return report


def _plans(calls: Counter[str], seeds: Iterable[int]) -> Iterator[_Plan]:
    """Yield a run for each point and each call of the run without failures, then those of the seeds."""
    for nth in range(1, _PASSAGES + 1):
        for point in POINTS:
            yield _Plan(0, Fault(point, nth=nth))
        for call, count in calls.items():
            if count >= nth:
                for when in ("before", "within", "after") if call in DIVISIBLE else ("before", "after"):
                    yield _Plan(0, Fault(call, when, nth))
    for seed in seeds:
        yield _Plan(seed, is_random=True)


def _carry_out(name: str, runs: _Sinks | _Sources, plan: _Plan, report: ConformanceReport, rescales: bool) -> None:
    faults = Faults()
    if plan.fault is not None:
        faults.arm(plan.fault)
    try:
        run = runs.begin(plan, faults, rescales)
    except Exception as error:
        raise ConformanceError(_told(name, plan, ["start"], f"the job failed: {error}")) from error
    try:
        if plan.is_random:
            calls = [(call, when) for call in report.calls for when in ("before", "after", *(("within",) if call in DIVISIBLE else ()))]
            actions = [runs.input, runs.input, run.checkpoint, run.checkpoint, run.fail, run.rescale, run.kill_job_master]
            run.play(actions, [*((point, "at") for point in POINTS), *calls], _ACTIONS)
            faults.disarm()
        else:
            _fixed_course(runs)
        expected, found = runs.end()
    except ConformanceError:
        raise
    except Exception as error:
        raise ConformanceError(_told(name, plan, run.story, f"the job failed: {error}")) from error
    finally:
        run.close()
        report.runs += 1
        report.calls += faults.calls
        report.faults.update(fault.place for fault in faults.hits)
    problem = _problem(report.guarantee, expected, found) or (runs.disorder() if isinstance(runs, _Sources) else None)
    if problem:
        raise ConformanceError(_told(name, plan, run.story, problem))


def _fixed_course(runs: _Sinks | _Sources) -> None:
    """Write, take checkpoints, rescale, fail once and write again; the fault occurs where its call or point is passed."""
    run = runs.run
    for action in (run.checkpoint, run.checkpoint, run.rescale, run.fail, run.checkpoint):
        runs.input()
        run.step(7)
        action()
    runs.input()


def _told(name: str, plan: _Plan, story: list[str], problem: str) -> str:
    alone = f"\n  {name}(..., seeds=[{plan.seed}]) runs it after the fixed runs" if plan.is_random else ""
    return f"{problem}\n  in {plan}: {'; '.join(story)}{alone}"


def _problem(guarantee: DeliveryGuarantee, expected: list[Any], found: list[Any]) -> str | None:
    """Return the violation by the found records, None if the guarantee holds."""
    wanted, there = Counter(map(_key, expected)), Counter(map(_key, found))
    missing, more = wanted - there, there - wanted
    foreign = Counter({record: count for record, count in more.items() if record not in wanted})
    repeated = more - foreign
    problems = []
    if guarantee is not DeliveryGuarantee.NONE and missing:
        problems.append(f"{_counted(missing)} missing: {_listed(missing.elements())}")
    if guarantee is DeliveryGuarantee.EXACTLY_ONCE and repeated:
        problems.append(f"{_counted(repeated)} there too often: {_listed(repeated.elements())}")
    if foreign:
        problems.append(f"{_counted(foreign)} there that nobody wrote: {_listed(foreign.elements())}")
    if not problems:
        return None
    broken = guarantee if not missing else DeliveryGuarantee.AT_LEAST_ONCE
    return f"{broken.name.lower().replace('_', '-')} is broken: " + "; ".join(problems)


def _counted(records: Counter[Any]) -> str:
    count = records.total()
    return f"{count} record{'s are' if count > 1 else ' is'}"


def _listed(records: Iterable[Any]) -> str:
    shown = [str(record) for record in records]
    return ", ".join(shown[:_SHOWN]) + (", ..." if len(shown) > _SHOWN else "")


def _key(record: Any) -> Any:
    try:
        hash(record)
    except TypeError:
        return repr(record)
    return record


def _sequences(records: Iterable[Any], order_of: Callable[[Any], Any]) -> dict[Any, list[Any]]:
    sequences: dict[Any, list[Any]] = {}
    for record in records:
        sequences.setdefault(order_of(record), []).append(record)
    return sequences
