"""Asynchronous functions: order, capacity, timeouts, retries, errors, snapshots; and the same in jobs that fail and go on."""

from __future__ import annotations

import asyncio
import threading
import time
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wiesel.common import Time, Types, WatermarkStrategy
from wiesel.core.errors import JobExecutionError, ProgramError, UserFunctionError
from wiesel.datastream import AsyncDataStream, AsyncFunction, AsyncRetryStrategy, OutputTag
from wiesel.datastream.async_retry_predicates import empty_result_predicate, exception_type_predicate, has_exception_predicate
from wiesel.datastream.async_retry_strategies import ExponentialBackoffDelayRetryStrategy
from wiesel.testing import ManualSource, Record, StreamHarness, Watermark, for_seeds, local_environment

SECOND = Time.seconds(1)


class Slow(AsyncFunction):
    """Answers (name, ms) with the name, after so many ms."""

    async def async_invoke(self, value):
        name, delay_ms = value
        await asyncio.sleep(delay_ms / 1000)
        return [name]

    def timeout(self, value):
        return [f"{value[0]} timed out"]


def harness_of(function=None, *, ordered=True, timeout=SECOND, capacity=100, strategy=None, **options):
    def define(stream):
        way = "ordered" if ordered else "unordered"
        made = Slow() if function is None else function
        if strategy is None:
            return getattr(AsyncDataStream, f"{way}_wait")(stream, made, timeout, capacity)
        return getattr(AsyncDataStream, f"{way}_wait_with_retry")(stream, made, timeout, strategy, capacity)

    return StreamHarness(define, **options)


def shown(harness):
    """Return values and watermarks in their order."""
    return [e.value if isinstance(e, Record) else e.timestamp for e in harness.output if isinstance(e, Record | Watermark)]


def test_ordered_results_wait_for_those_of_earlier_records():
    with harness_of() as harness:
        harness.push_all([("a", 30), ("b", 10), ("c", 20)], [1, 2, 3])
        harness.set_processing_time(29)
        assert harness.values == []
        harness.set_processing_time(30)
        assert harness.records == [Record("a", 1), Record("b", 2), Record("c", 3)]


def test_unordered_results_come_as_they_come_but_do_not_pass_a_watermark():
    with harness_of(ordered=False) as harness:
        harness.push_all([("a", 30), ("b", 10)], [1, 2])
        harness.advance_watermark(5)
        harness.push_all([("c", 20), ("d", 1)], [6, 7])
        harness.advance_watermark(8)
        harness.set_processing_time(10)
        assert shown(harness) == ["b"]
        harness.set_processing_time(29)
        assert shown(harness) == ["b"]
        harness.set_processing_time(30)
        assert shown(harness) == ["b", "a", 5, "d", "c", 8]


def test_ordered_watermarks_stay_where_they_were():
    with harness_of() as harness:
        harness.advance_watermark(1)
        harness.push(("a", 20), timestamp=2)
        harness.advance_watermark(3)
        harness.push(("b", 5), timestamp=4)
        harness.advance_watermark(5)
        assert shown(harness) == [1]
        harness.set_processing_time(20)
        assert shown(harness) == [1, "a", 3, "b", 5]


class Counted(AsyncFunction):
    """Counts requests that are being made; ten ms each."""

    def open(self, runtime_context):
        self.now = self.most = self.all = 0
        runtime_context.get_metrics_group().gauge("most", lambda: self.most)
        runtime_context.get_metrics_group().gauge("all", lambda: self.all)

    async def async_invoke(self, value):
        self.now += 1
        self.all += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.01)
        self.now -= 1
        return [value]


@pytest.mark.parametrize("ordered", [True, False])
def test_no_more_requests_than_the_capacity_and_no_fewer_as_long_as_records_wait(ordered):
    with harness_of(Counted(), ordered=ordered, capacity=4) as harness:
        harness.push_all(range(10))
        harness.advance_watermark(700)
        harness.push_all(range(10, 12))
        assert harness.metric("all") == 4
        harness.set_processing_time(10)
        assert (harness.metric("all"), len(harness.values)) == (8, 4)
        harness.set_processing_time(30)
        assert (sorted(harness.values), harness.metric("most")) == (list(range(12)), 4)
        # With the capacity in use all the time twelve requests take three times ten ms.
        assert shown(harness).index(700) == 10


def test_a_request_that_takes_too_long_gives_what_timeout_says():
    with harness_of(timeout=Time.milliseconds(50)) as harness:
        harness.push_all([("a", 51), ("b", 50), ("c", 10)])
        harness.set_processing_time(50)
        assert harness.values[0] == "a timed out"
        assert harness.values[-1] == "c"


class Patient(AsyncFunction):
    async def async_invoke(self, value):
        await asyncio.sleep(3600)
        return [value]


def test_a_timeout_fails_the_job_unless_it_is_overridden():
    with harness_of(Patient(), timeout=Time.seconds(2)) as harness:
        harness.push("a")
        harness.set_processing_time(1_999)
        with pytest.raises(UserFunctionError, match=r"took longer than 2 s(?s:.*)with record 'a'"):
            harness.set_processing_time(2_000)


def test_without_a_timeout_a_request_may_take_for_ever():
    with harness_of(Patient(), timeout=0) as harness:
        harness.push("a")
        harness.set_processing_time(3_599_999)
        assert harness.values == []
        harness.set_processing_time(3_600_000)
        assert harness.values == ["a"]


class Tidy(AsyncFunction):
    """Says whether a request that was given up could tidy up."""

    def open(self, runtime_context):
        self.cancelled = runtime_context.get_metrics_group().counter("cancelled")

    async def async_invoke(self, value):
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            self.cancelled.inc()
            raise
        return [value]

    def timeout(self, value):
        return []


def test_a_request_that_took_too_long_is_cancelled():
    with harness_of(Tidy(), timeout=SECOND) as harness:
        harness.push_all("ab")
        harness.set_processing_time(1_001)
        assert (harness.values, harness.metric("cancelled")) == ([], 2)
        assert not harness._drivers[0].operator.busy


class Flaky(AsyncFunction):
    """Fails for the first attempts of (name, number of failures), or gives nothing; tells the times of its attempts."""

    def __init__(self, empty=False):
        self.empty = empty

    def open(self, runtime_context):
        self.attempts = {}

    async def async_invoke(self, value):
        name, failures = value
        times = self.attempts.setdefault(name, [])
        times.append(round(asyncio.get_running_loop().time() * 1000))
        if len(times) > failures:
            return [name]
        if self.empty:
            return []
        raise ConnectionError(f"attempt {len(times)} of {name} failed")


TEN_MS_THREE_TIMES = partial(AsyncRetryStrategy.fixed_delay, 3, 10)


def test_requests_are_made_again_after_the_delay():
    function = Flaky()
    with harness_of(function, strategy=TEN_MS_THREE_TIMES(None, has_exception_predicate), ship=False) as harness:
        harness.push_all([("a", 0), ("b", 3)])
        harness.set_processing_time(29)
        assert harness.values == ["a"]
        harness.set_processing_time(30)
        assert harness.values == ["a", "b"]
        assert function.attempts == {"a": [0], "b": [0, 10, 20, 30]}


def test_after_the_last_attempt_its_exception_counts_or_its_empty_result():
    with harness_of(Flaky(), strategy=TEN_MS_THREE_TIMES(None, has_exception_predicate)) as harness:
        harness.push(("a", 4))
        with pytest.raises(UserFunctionError, match="attempt 4 of a failed"):
            harness.set_processing_time(100)
    with harness_of(Flaky(empty=True), strategy=TEN_MS_THREE_TIMES(empty_result_predicate, None)) as harness:
        harness.push_all([("a", 4), ("b", 2)])
        harness.set_processing_time(100)
        assert harness.values == ["b"]


def test_only_what_the_predicates_say_is_a_reason_for_another_attempt():
    other = partial(exception_type_predicate, expected_error_type=TimeoutError)
    with harness_of(Flaky(), strategy=TEN_MS_THREE_TIMES(None, other)) as harness, pytest.raises(UserFunctionError, match="attempt 1"):
        harness.push(("a", 1))


def test_the_timeout_counts_all_attempts():
    class WithDefault(Flaky):
        def timeout(self, value):
            return ["default"]

    function, strategy = WithDefault(), TEN_MS_THREE_TIMES(None, has_exception_predicate)
    with harness_of(function, timeout=25, strategy=strategy, ship=False) as harness:
        harness.push(("a", 3))
        harness.set_processing_time(100)
        assert (harness.values, function.attempts) == (["default"], {"a": [0, 10, 20]})


def test_exponential_delays_grow_up_to_a_limit_for_each_request_by_itself():
    strategy = AsyncRetryStrategy.exponential_backoff(6, 10, 50, 2.0, None, has_exception_predicate)
    assert isinstance(strategy, ExponentialBackoffDelayRetryStrategy)
    assert [strategy.get_backoff_time_millis(n) for n in (1, 2, 3, 4, 5)] == [10, 20, 40, 50, 50]
    function = Flaky()
    with harness_of(function, strategy=strategy, ship=False) as harness:
        harness.push(("a", 4))
        harness.set_processing_time(5)
        harness.push(("b", 2))
        harness.set_processing_time(1_000)
        assert function.attempts == {"a": [0, 10, 30, 70, 120], "b": [5, 15, 35]}


class Failing(AsyncFunction):
    async def async_invoke(self, value):
        if value == "bad":
            raise ValueError("no answer for this")
        return [value]


def test_an_exception_fails_the_job_or_the_record_is_left_out():
    with harness_of(Failing()) as harness:
        with pytest.raises(UserFunctionError, match="no answer for this") as caught:
            harness.push_all(["good", "bad"])
        assert "'bad'" in str(caught.value)
        assert harness.values == ["good"]
    with harness_of(Failing(), config={"wiesel.user-error-policy": "skip"}) as harness:
        harness.push_all(["good", "bad", "better"])
        assert harness.values == ["good", "better"]


@pytest.mark.parametrize("wrong", [None, "text", b"bytes", 5])
def test_a_result_that_is_no_list_is_an_error_that_says_what_to_do(wrong):
    class Wrong(AsyncFunction):
        async def async_invoke(self, value):
            return wrong

    with harness_of(Wrong()) as harness, pytest.raises(ProgramError, match="instead of a list") as caught:
        harness.push("a")
    assert "return a list of results" in str(caught.value)


ASIDE = OutputTag("aside", Types.INT())


class Several(AsyncFunction):
    async def async_invoke(self, value):
        return [*range(value), (ASIDE, value)]


def test_a_request_may_have_no_results_several_and_some_for_a_side_output():
    with harness_of(Several()) as harness:
        harness.push_all([2, 0, 3])
        assert harness.values == [0, 1, 0, 1, 2]
        assert harness.side_output(ASIDE) == [2, 0, 3]


def test_the_end_of_the_input_waits_for_all_requests():
    with harness_of(capacity=1) as harness:
        harness.push_all([("a", 30), ("b", 10)])
        harness.end_input()
        assert (harness.values, harness.processing_time) == (["a", "b"], 40)


class ForSomethingOutside(AsyncFunction):
    async def async_invoke(self, value):
        return [await asyncio.get_running_loop().create_future()]


def test_the_harness_says_when_it_cannot_come_to_an_end():
    with harness_of(ForSomethingOutside(), timeout=0) as harness:
        harness.push("a")
        with pytest.raises(JobExecutionError, match="outside of the harness"):
            harness.end_input()


def test_wrong_calls_are_told_with_their_line():
    class Plain(AsyncFunction):
        def async_invoke(self, value):
            return [value]

    class NoPredicate(type(AsyncRetryStrategy.no_restart())):
        def get_retry_predicate(self):
            return None

    stream = local_environment().from_collection([1])
    retry = AsyncRetryStrategy.fixed_delay(1, 1, None, None)
    for wrong in (
        lambda: AsyncDataStream.ordered_wait(None, Slow(), SECOND),
        lambda: AsyncDataStream.ordered_wait(stream, Plain(), SECOND),
        lambda: AsyncDataStream.unordered_wait(stream, Slow, SECOND),
        lambda: AsyncDataStream.unordered_wait(stream, lambda value: [value], SECOND),
        lambda: AsyncDataStream.unordered_wait(stream, Slow(), SECOND, 0),
        lambda: AsyncDataStream.unordered_wait_with_retry(stream, Slow(), SECOND, None),
        lambda: AsyncDataStream.unordered_wait_with_retry(stream, Slow(), SECOND, NoPredicate()),
        lambda: AsyncDataStream.ordered_wait_with_retry(stream, Slow(), 0, retry),
    ):
        with pytest.raises(ProgramError, match=r"test_async_wait\.py"):
            wrong()
    for numbers in ((0, 1), (1, 0)):
        with pytest.raises(ValueError, match="greater than zero"):
            AsyncRetryStrategy.fixed_delay(*numbers, None, None)


# Snapshots.


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("parallelism", [1, 3])
def test_requests_on_their_way_and_records_that_wait_are_made_anew_after_a_restore(ordered, parallelism):
    with harness_of(ordered=ordered, capacity=3) as harness:
        harness.push_all([("a", 30), ("b", 10), ("c", 10), ("d", 10), ("e", 10)], [1, 2, 3, 4, 5])
        harness.set_processing_time(15)
        snapshot = harness.snapshot()
        before = harness.values
        assert sorted(before) == ([] if ordered else ["b", "c"])
        with harness.restored(snapshot, parallelism=parallelism) as again:
            again.push(("f", 1), timestamp=6)
            again.set_processing_time(1_000)
            expected = sorted(zip("abcdef", range(1, 7), strict=True))
            assert sorted([(r.value, r.timestamp) for r in [*harness.records, *again.records]]) == expected
            if ordered and parallelism == 1:
                assert again.values == list("abcdef")


RECORDS = st.lists(st.one_of(st.integers(0, 40), st.sampled_from(["watermark", "restore"])), max_size=30)


@settings(max_examples=60, deadline=None)
@given(
    steps=RECORDS,
    capacity=st.integers(1, 5),
    ordered=st.booleans(),
    pauses=st.lists(st.integers(0, 30), min_size=1, max_size=5),
    parallelisms=st.lists(st.integers(1, 3), min_size=1, max_size=3),
)
def test_each_record_gives_its_result_once_and_none_passes_a_watermark(steps, capacity, ordered, pauses, parallelisms):
    """Every result comes once; behind its last restore a record's result is between the watermarks that it came between."""
    harness = harness_of(ordered=ordered, capacity=capacity, parallelism=parallelisms[0])
    found, pushed, watermark, always_one = [], [], 0, set(parallelisms) == {1}
    for number, step in enumerate(steps):
        harness.advance_processing_time(pauses[number % len(pauses)])
        if step == "restore":
            found.extend(shown(harness))
            snapshot = harness.snapshot()
            now = harness.processing_time
            harness.close()
            harness = harness.restored(snapshot, parallelism=parallelisms[number % len(parallelisms)], start_time=now)
            harness.advance_watermark(watermark)
        elif step == "watermark":
            watermark = number + 1
            harness.advance_watermark(watermark)
        else:
            pushed.append(f"{number}")
            harness.push((f"{number}", step), timestamp=number)
    harness.end_input()
    found.extend(shown(harness))
    values = [v for v in found if isinstance(v, str)]
    harness.close()
    assert sorted(values) == sorted(pushed)
    if ordered and always_one:
        assert values == pushed
    seen = set()
    for event in found:
        if isinstance(event, str):
            seen.add(int(event))
        elif parallelisms == [1]:
            # Whatever was pushed before a watermark has come out before it.
            assert {int(v) for v in pushed if int(v) < event} <= seen


# Jobs.


class Square(AsyncFunction):
    async def async_invoke(self, value):
        await asyncio.sleep((value * 7 % 5) / 100)
        return [value * value]


@pytest.mark.parametrize("ordered", [True, False])
@for_seeds(4)
def test_a_job_goes_on_from_its_checkpoint_with_all_requests(seed, ordered):
    env = local_environment(parallelism=2, seed=seed)
    source = ManualSource()
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.INT())
    wait = AsyncDataStream.ordered_wait if ordered else AsyncDataStream.unordered_wait
    results = env.collect(wait(numbers, Square(), SECOND, 3, Types.INT()))
    with env.start() as job:
        source.push_all(range(20))
        job.checkpoint()
        job.advance_processing_time(15)
        job.checkpoint()
        source.push_all(range(20, 30))
        job.advance_processing_time(7)
        job.fail()
        job.finish()
        assert job.restarts == 1
    assert sorted(results.values) == [n * n for n in range(30)]


class InThreads(AsyncFunction):
    """Waits for a thread, in real time."""

    async def async_invoke(self, value):
        await asyncio.to_thread(time.sleep, 0.01)
        assert threading.current_thread().name
        return [value + 1]


def test_the_local_engine_waits_for_what_takes_real_time():
    env = local_environment(parallelism=2)
    numbers = env.from_collection(list(range(20)), Types.INT())
    stream = AsyncDataStream.unordered_wait(numbers, InThreads(), Time.seconds(30), 5, Types.INT())
    with stream.execute_and_collect() as results:
        assert sorted(results) == list(range(1, 21))


def test_functions_in_a_row_and_behind_others_in_one_chain():
    env = local_environment()
    numbers = env.from_collection(list(range(30)), Types.INT()).map(lambda n: n, Types.INT())
    squares = AsyncDataStream.ordered_wait(numbers, Square(), SECOND, 4, Types.INT())
    again = AsyncDataStream.ordered_wait(squares.map(lambda n: n + 1, Types.INT()), Square(), SECOND, 2, Types.INT())
    with again.execute_and_collect() as results:
        assert list(results) == [(n * n + 1) ** 2 for n in range(30)]


class Leaves(AsyncFunction):
    def __init__(self, later):
        self.later = later

    async def async_invoke(self, value):
        if self.later:
            await asyncio.sleep(3600)
        raise SystemExit("left")

    def timeout(self, value):
        raise SystemExit("left")


@pytest.mark.timeout(60)
@pytest.mark.parametrize("later", [False, True], ids=["request", "timeout"])
def test_a_request_that_ends_the_process_fails_and_hangs_nobody(later):
    with harness_of(Leaves(later)) as harness, pytest.raises(UserFunctionError, match=r"SystemExit: left"):
        harness.push("a", 1)
        harness.set_processing_time(1000)
