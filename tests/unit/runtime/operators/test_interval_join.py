"""Interval joins: bounds, late records, state that is cleaned, against the example of Flink's documentation and against brute force."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wiesel.common import Time, Types
from wiesel.core.errors import ProgramError, UserFunctionError
from wiesel.datastream import OutputTag
from wiesel.datastream.functions import ProcessJoinFunction
from wiesel.testing import END_OF_TIME, Record, StreamHarness, Timer, local_environment

LATE_LEFT = OutputTag("late-left")
LATE_RIGHT = OutputTag("late-right")


class Pair(ProcessJoinFunction):
    def process_element(self, left, right, ctx):
        yield (left[1], right[1])


class Timed(ProcessJoinFunction):
    def process_element(self, left, right, ctx):
        return [(ctx.get_left_timestamp(), ctx.get_right_timestamp(), ctx.get_timestamp())]


def key(record):
    return record[0]


def interval(lower, upper, function=None, then=lambda j: j, **options):
    """Return a harness for records (key, value) on both inputs."""

    def define(left, right):
        between = left.key_by(key).interval_join(right.key_by(key)).between(lower, upper)
        return then(between).process(Pair() if function is None else function)

    return StreamHarness(define, **options)


def push(harness, number, *times, of="k"):
    """Push records whose values are their timestamps."""
    for time in times:
        harness.push((of, time), timestamp=time, input=number)


ORANGE, GREEN = [0, 2, 3, 4, 5, 7], [0, 1, 6, 7]


@pytest.mark.parametrize("first", [1, 2])
def test_the_interval_join_of_the_documentation(first):
    # Orange and green elements; green.ts between orange.ts - 2 and orange.ts + 1, whichever comes first.
    with interval(Time.milliseconds(-2), Time.milliseconds(1)) as harness:
        for number in (first, 3 - first):
            push(harness, number, *(ORANGE if number == 1 else GREEN))
        assert sorted(harness.values) == [(0, 0), (0, 1), (2, 0), (2, 1), (3, 1), (5, 6), (7, 6), (7, 7)]


@pytest.mark.parametrize(
    ("then", "expected"),
    [
        (lambda j: j, [8, 9, 10, 11, 12]),
        (lambda j: j.lower_bound_exclusive(), [9, 10, 11, 12]),
        (lambda j: j.upper_bound_exclusive(), [8, 9, 10, 11]),
        (lambda j: j.lower_bound_exclusive().upper_bound_exclusive(), [9, 10, 11]),
    ],
)
def test_bounds_are_inclusive_unless_said_otherwise(then, expected):
    with interval(-2, 2, then=then) as harness:
        push(harness, 2, *range(5, 16))
        push(harness, 1, 10)
        assert [right for _, right in harness.values] == expected


def test_results_have_the_later_timestamp_and_the_function_is_told_both():
    with interval(-5, 5, Timed()) as harness:
        push(harness, 1, 10)
        push(harness, 2, 8, 13)
        assert harness.records == [Record((10, 8, 10), 10), Record((10, 13, 13), 13)]


def test_keys_do_not_mix():
    with interval(-5, 5, parallelism=2) as harness:
        push(harness, 1, 1, of="a")
        push(harness, 2, 2, of="b")
        assert harness.values == []


def test_equal_timestamps_are_all_joined():
    with interval(0, 0) as harness:
        push(harness, 1, 3, 3)
        push(harness, 2, 3, 2, 3)
        assert harness.values == [(3, 3)] * 4


def buffered(harness, of="k"):
    """Return the timestamps of both buffers."""
    state = harness.state(of)
    return [sorted(state.get(f"{side}-buffer", {})) for side in ("left", "right")]


def test_what_nothing_can_join_any_more_is_dropped():
    with interval(-3, 5) as harness:
        push(harness, 1, 10)
        push(harness, 2, 10)
        # A left record waits for right ones up to 15; a right one for left ones that are up to 3 later.
        assert harness.event_time_timers == [Timer(13, "k", "right"), Timer(15, "k", "left")]
        harness.advance_watermark(12)
        assert buffered(harness) == [[10], [10]]
        harness.advance_watermark(13)
        assert buffered(harness) == [[10], []]
        harness.advance_watermark(14)
        push(harness, 2, 15)
        assert harness.values == [(10, 10), (10, 15)]
        harness.advance_watermark(18)
        assert (harness.state("k"), harness.event_time_timers) == ({}, [])


@pytest.mark.parametrize(("lower", "upper", "cleanups"), [(2, 5, [10, 15]), (-5, -2, [10, 15]), (0, 0, [10, 10])])
def test_a_side_that_has_to_wait_for_nothing_later_is_dropped_at_its_own_time(lower, upper, cleanups):
    with interval(lower, upper) as harness:
        push(harness, 1, 10)
        push(harness, 2, 10)
        assert [t.timestamp for t in harness.event_time_timers] == cleanups


def test_a_fast_stream_waits_in_state_for_a_slow_one():
    # The left stream is 1000 ms ahead; its state grows with that, and shrinks as the right one advances.
    with interval(-10, 10) as harness:
        for time in range(0, 1_000, 10):
            push(harness, 1, time)
            harness.advance_watermark(time, input=1)
        assert len(buffered(harness)[0]) == 100
        for time in range(0, 1_000, 10):
            push(harness, 2, time)
            harness.advance_watermark(time, input=2)
            assert len(buffered(harness)[0]) <= 100 - time // 10 + 1
        # Each right record has the left ones 10 ms before, at its time, and 10 ms after it.
        assert Counter(harness.values) == Counter((t + d, t) for t in range(0, 1_000, 10) for d in (-10, 0, 10) if 0 <= t + d < 1_000)


def test_late_records_are_counted_or_go_to_the_side_output_of_their_side():
    with interval(-10, 10) as harness:
        push(harness, 1, 10)
        harness.advance_watermark(12)
        push(harness, 2, 11, 12)
        # 12 is as late as the watermark says, 11 is later than that.
        assert harness.values == [(10, 12)]
        assert harness.metric("numLateRecordsDropped") == 1

    def with_tags(join):
        return join.side_output_left_late_data(LATE_LEFT).side_output_right_late_data(LATE_RIGHT)

    with interval(-10, 10, then=with_tags) as harness:
        harness.advance_watermark(12)
        push(harness, 1, 11, 13)
        push(harness, 2, 10)
        assert (harness.side_records(LATE_LEFT), harness.side_records(LATE_RIGHT)) == ([Record(("k", 11), 11)], [Record(("k", 10), 10)])
        assert (harness.values, harness.metric("numLateRecordsDropped")) == ([], 0)


ASIDE = OutputTag("aside")


class Aside(ProcessJoinFunction):
    def open(self, runtime_context):
        self.pairs = runtime_context.get_metrics_group().counter("pairs")

    def process_element(self, left, right, ctx):
        self.pairs.inc()
        if left == right:
            return None
        return [(ASIDE, (left, right))] if left[1] > right[1] else [(left[1], right[1])]


def test_functions_are_opened_and_may_give_nothing_or_to_a_side_output():
    with interval(-5, 5, Aside()) as harness:
        push(harness, 1, 1, 2)
        push(harness, 2, 1, 2)
        assert harness.values == [(1, 2)]
        assert harness.side_output(ASIDE) == [(("k", 2), ("k", 1))]
        assert harness.metric("pairs") == 4


class Failing(ProcessJoinFunction):
    def process_element(self, left, right, ctx):
        if left[1] == 2:
            raise ValueError("not this pair")
        yield (left[1], right[1])


def test_a_function_that_raises_is_reported_with_the_pair_or_the_pair_is_left_out():
    with interval(-5, 5, Failing()) as harness, pytest.raises(UserFunctionError, match="not this pair") as caught:
        push(harness, 1, 1, 2)
        push(harness, 2, 3)
    assert "('k', 2)" in str(caught.value) and "('k', 3)" in str(caught.value)
    with interval(-5, 5, Failing(), config={"wiesel.user-error-policy": "skip"}) as harness:
        push(harness, 1, 1, 2, 4)
        push(harness, 2, 3)
        assert harness.values == [(1, 3), (4, 3)]


@pytest.mark.parametrize("number", [1, 2])
def test_a_record_without_a_timestamp_is_an_error_that_says_what_to_do(number):
    with interval(-5, 5) as harness, pytest.raises(ProgramError, match="no timestamp") as caught:
        harness.push(("k", 1), input=number)
    assert "assign_timestamps_and_watermarks" in str(caught.value)


def test_wrong_calls_are_told_with_their_line():
    env = local_environment()
    stream = env.from_collection([("a", 1)])
    keyed = stream.key_by(key, Types.STRING())
    join = keyed.interval_join(keyed)
    for wrong in (
        lambda: keyed.interval_join(stream),
        lambda: keyed.interval_join(stream.key_by(key, Types.INT())),
        lambda: keyed.interval_join(None),
        lambda: join.between(5, -5),
        lambda: join.between(0, 0).lower_bound_exclusive().process(Pair()),
        lambda: join.between(0, 1).lower_bound_exclusive().upper_bound_exclusive().process(Pair()),
        lambda: join.between(0, 1).side_output_left_late_data("late"),
        lambda: join.between(0, 1).side_output_right_late_data("late"),
        lambda: join.between(0, 1).process(lambda a, b, c: []),
        lambda: join.between(0, 1).process(Pair),
    ):
        with pytest.raises(ProgramError, match=r"test_interval_join\.py"):
            wrong()


# A record is (side, key, how far ahead of the watermark); a number is how far the watermark advances.
STEPS = st.lists(
    st.one_of(st.tuples(st.integers(1, 2), st.sampled_from("aab"), st.integers(-2, 9)), st.integers(1, 4), st.just("restore")),
    min_size=4,
    max_size=40,
)


def with_times(steps):
    """Return the steps with timestamps and watermarks that are not relative any more."""
    watermark, absolute = 0, [0]
    for step in steps:
        if isinstance(step, tuple):
            absolute.append((step[0], step[1], max(0, watermark + step[2])))
        elif isinstance(step, int):
            watermark += step
            absolute.append(watermark)
        else:
            absolute.append(step)
    return absolute


def brute_force(steps, lower, upper):
    """Return the pairs and the late records: each record is compared with all that came before it on the other side.

    A record that is just as old as the watermark is not late, but what has waited up to then is dropped when a watermark comes.
    """
    watermark, waiting, pairs, late = -(2**63), [], Counter(), Counter()
    for number, step in enumerate(steps):
        if isinstance(step, tuple):
            side, of, time = step
            if time < watermark:
                late[side, number] += 1
                continue
            for other_side, other_of, other_time, other, _ in waiting:
                left, right = (time, other_time) if side == 1 else (other_time, time)
                if other_side != side and other_of == of and left + lower <= right <= left + upper:
                    pairs[(number, other) if side == 1 else (other, number)] += 1
            waiting.append((side, of, time, number, time + max(0, upper if side == 1 else -lower)))
        else:  # after a restore the watermark comes once more
            watermark = step if isinstance(step, int) else watermark
            waiting = [w for w in waiting if w[-1] > watermark]
    return pairs, late


@settings(max_examples=60, deadline=None)
@given(
    steps=STEPS.map(with_times),
    lower=st.integers(-6, 4),
    length=st.integers(0, 8),
    parallelisms=st.lists(st.integers(1, 3), min_size=2, max_size=4),
    backend=st.sampled_from(["hashmap", "hashmap", "lmdb"]),
)
def test_any_interval_join_is_what_brute_force_gives(steps, lower, length, parallelisms, backend):
    def with_tags(join):
        return join.side_output_left_late_data(LATE_LEFT).side_output_right_late_data(LATE_RIGHT)

    harness = interval(lower, lower + length, then=with_tags, parallelism=parallelisms[0], state_backend=backend)
    pairs, late, watermark = Counter(), Counter(), 0

    def read():
        pairs.update(harness.values)
        late.update((1, number) for _, number in harness.side_output(LATE_LEFT))
        late.update((2, number) for _, number in harness.side_output(LATE_RIGHT))

    for number, step in enumerate(steps):
        if step == "restore":
            read()
            snapshot = harness.snapshot()
            harness.close()
            harness = harness.restored(snapshot, parallelism=parallelisms[number % len(parallelisms)])
            harness.advance_watermark(watermark)  # comes anew from upstream
        elif isinstance(step, int):
            watermark = step
            harness.advance_watermark(step)
        else:
            side, of, time = step
            harness.push((of, number), timestamp=time, input=side)
    harness.advance_watermark(END_OF_TIME)
    read()
    assert (harness.state("a"), harness.state("b"), harness.event_time_timers) == ({}, {}, [])
    harness.close()
    assert (pairs, late) == brute_force(steps, lower, lower + length)
