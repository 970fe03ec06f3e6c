"""Pattern streams as operators: time, late events, timeouts, keys, snapshots, and what functions see."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from wiesel.cep import (
    CEP,
    AfterMatchSkipStrategy,
    EventComparator,
    Pattern,
    PatternProcessFunction,
    PatternStream,
    RichIterativeCondition,
    TimedOutPartialMatchHandler,
    WithinType,
)
from wiesel.common import Types, WatermarkStrategy
from wiesel.core.errors import ProgramError, UserFunctionError
from wiesel.datastream import DataStream, OutputTag
from wiesel.testing import ManualSource, Record, StreamHarness, for_seeds, local_environment

LATE = OutputTag("late")
TIMED_OUT = OutputTag("timed out")


def key(event: str) -> str:
    return event.split(":")[0]


def kind(event: str) -> str:
    return event.split(":")[1][0]


def a_then_b(strategy: AfterMatchSkipStrategy | None = None) -> Pattern:
    return Pattern.begin("a", strategy).where(lambda e: kind(e) == "a").followed_by("b").where(lambda e: kind(e) == "b")


def told(match: dict[str, list[str]]) -> str:
    return " ".join(e for events in match.values() for e in events)


def harness(
    pattern: Pattern, finish: Callable[[PatternStream], DataStream] = lambda s: s.select(told), comparator: Any = None, **options: Any
) -> StreamHarness:
    return StreamHarness(lambda s: finish(CEP.pattern(s.key_by(key), pattern, comparator)), **options)


def test_events_are_matched_in_the_order_of_their_times() -> None:
    with harness(a_then_b()) as h:
        h.push("k:b1", 5)
        h.push("k:a1", 3)
        h.push("k:b2", 2)  # before a1 in event time
        h.advance_watermark(4)
        assert h.values == []
        h.advance_watermark(5)
        assert h.records == [Record("k:a1 k:b1", 5)]


def test_keys_have_matches_of_their_own() -> None:
    with harness(a_then_b()) as h:
        h.push_all(["k:a1", "m:b1", "m:a2", "k:b2"], [1, 2, 3, 4])
        h.advance_watermark(10)
        assert h.values == ["k:a1 k:b2"]


def test_without_key_all_events_are_one_stream_of_one_subtask() -> None:
    with StreamHarness(lambda s: CEP.pattern(s, a_then_b()).select(told)) as h:
        h.push_all(["k:a1", "m:b1"], [1, 2])
        h.end_input()
        assert h.values == ["k:a1 m:b1"]
    with pytest.raises(ProgramError, match="parallelism 1"):
        StreamHarness(lambda s: CEP.pattern(s, a_then_b()).select(told).set_parallelism(2))


def test_late_events_are_counted() -> None:
    with harness(a_then_b()) as h:
        h.advance_watermark(10)
        h.push_all(["k:a1", "k:a2"], [10, 11])
        assert h.metric("numLateRecordsDropped") == 1


def test_late_events_go_to_the_side_output() -> None:
    with harness(a_then_b(), lambda s: s.side_output_late_data(LATE).select(told)) as h:
        h.advance_watermark(10)
        h.push_all(["k:a1", "k:a2", "k:b1"], [10, 11, 9])
        assert h.side_records(LATE) == [Record("k:a1", 10), Record("k:b1", 9)]


def test_events_without_timestamps_are_refused() -> None:
    with harness(a_then_b()) as h, pytest.raises(ProgramError, match="without timestamps"):
        h.push("k:a1")


def test_a_comparator_orders_events_of_one_time() -> None:
    class ByText(EventComparator):
        def compare(self, first: str, second: str) -> int:
            return (first > second) - (first < second)

    for comparator in (ByText(), lambda x, y: (x > y) - (x < y)):
        with harness(a_then_b(), comparator=comparator) as h:
            h.push_all(["k:b1", "k:a1"], [5, 5])
            h.advance_watermark(5)
            assert h.values == ["k:a1 k:b1"]
    with harness(a_then_b()) as h:
        h.push_all(["k:b1", "k:a1"], [5, 5])
        h.advance_watermark(5)
        assert h.values == []


def test_processing_time_matches_as_events_come() -> None:
    with harness(a_then_b().within(10), lambda s: s.in_processing_time().select(told), start_time=100) as h:
        h.push("k:a1", 50)
        h.push("k:b1", 1)
        assert h.records == [Record("k:a1 k:b1", None)]
        h.push("k:a2")
        h.set_processing_time(110)
        h.push("k:b2")  # 10 ms after a2: too late
        assert len(h.values) == 1
        h.set_processing_time(200)
        assert h.state("k") == {}


def test_processing_time_with_comparator_waits_for_the_end_of_the_millisecond() -> None:
    with harness(a_then_b(), lambda s: s.in_processing_time().select(told), lambda x, y: (x > y) - (x < y)) as h:
        h.push("k:b1")
        h.push("k:a1")
        assert h.values == []
        h.advance_processing_time(1)
        assert h.values == ["k:a1 k:b1"]


class Alerts(PatternProcessFunction, TimedOutPartialMatchHandler):
    def process_match(self, match: dict[str, list[str]], ctx: PatternProcessFunction.Context) -> Iterator[Any]:
        yield told(match), ctx.timestamp(), ctx.current_processing_time()

    def process_timed_out_match(self, match: dict[str, list[str]], ctx: PatternProcessFunction.Context) -> Iterator[Any]:
        yield TIMED_OUT, (told(match), ctx.timestamp())


def test_process_sees_matches_and_what_timed_out() -> None:
    with harness(a_then_b().within(10), lambda s: s.process(Alerts()), start_time=7) as h:
        h.push_all(["k:a1", "k:b1", "k:a2", "m:a3"], [1, 5, 6, 8])
        h.advance_watermark(16)
        assert h.values == [("k:a1 k:b1", 5, 7)]
        assert h.side_records(TIMED_OUT) == [Record(("k:a2", 16), 16)]  # 6 + 10
        h.advance_watermark(17)
        assert h.side_output(TIMED_OUT) == [("k:a2", 16)]
        h.advance_watermark(18)
        assert h.side_output(TIMED_OUT)[1:] == [("m:a3", 18)]
        assert h.state("k") == {} and h.state("m") == {}


def test_select_with_timeouts() -> None:
    def finish(stream: PatternStream) -> DataStream:
        return stream.select(
            told, Types.STRING(), timed_out_partial_matches_tag=TIMED_OUT, pattern_timeout_function=lambda match, time: (told(match), time)
        )

    with harness(a_then_b().within(10), finish) as h:
        h.push("k:a1", 3)
        h.end_input()
        assert h.side_output(TIMED_OUT) == [("k:a1", 13)]


def test_flat_select_with_timeouts() -> None:
    def finish(stream: PatternStream) -> DataStream:
        return stream.flat_select(
            lambda match: [e for events in match.values() for e in events],
            timed_out_partial_matches_tag=TIMED_OUT,
            pattern_flat_timeout_function=lambda match, time: [time, time + 1],
        )

    with harness(a_then_b().within(10), finish) as h:
        h.push_all(["k:a1", "k:b1", "k:a2"], [3, 4, 5])
        h.end_input()
        assert h.values == ["k:a1", "k:b1"]
        assert h.side_output(TIMED_OUT) == [15, 16]


def test_a_timeout_function_needs_a_tag() -> None:
    with pytest.raises(ProgramError, match="no output tag"):
        harness(a_then_b().within(10), lambda s: s.select(told, pattern_timeout_function=lambda match, time: None))


def test_time_between_two_events() -> None:
    pattern = a_then_b().within(5, WithinType.PREVIOUS_AND_CURRENT).followed_by("c").where(lambda e: kind(e) == "c")
    with harness(pattern, lambda s: s.process(Alerts())) as h:
        h.push_all(["k:a1", "k:b1", "k:c1", "m:a2", "m:b2"], [1, 5, 90, 1, 6])
        h.advance_watermark(100)
        assert [value[0] for value in h.values] == ["k:a1 k:b1 k:c1"]  # b 4 ms after a; c may take its time
        assert h.side_output(TIMED_OUT) == [("m:a2", 6)]


class Opened(RichIterativeCondition):
    limit = 0

    def open(self, runtime_context: Any) -> None:
        self.limit = 2

    def filter(self, value: str, ctx: Any) -> bool:
        return len(ctx.get_events_for_pattern("x")) < self.limit and ctx.timestamp() > 0


def test_rich_conditions_are_opened() -> None:
    pattern = Pattern.begin("x").where(Opened()).one_or_more()
    with harness(pattern) as h:
        h.push_all(["k:1", "k:2", "k:3"], [1, 2, 3])
        h.end_input()
        assert sorted(h.values) == ["k:1", "k:1 k:2", "k:2", "k:2 k:3", "k:3"]


def test_an_error_of_a_condition_names_the_event() -> None:
    pattern = Pattern.begin("x").where(lambda e: 1 / (len(e) - 3) > 0)
    with harness(pattern) as h:
        h.push("k:1", 1)
        with pytest.raises(UserFunctionError, match=r"(?s)ZeroDivisionError.*k:1"):
            h.advance_watermark(1)


def test_events_whose_condition_fails_can_be_skipped() -> None:
    pattern = Pattern.begin("x").where(lambda e: 1 / (len(e) - 3) > 0)
    with harness(pattern, config={"wiesel.user-error-policy": "skip"}) as h:
        h.push_all(["k:22", "k:1", "k:33"], [1, 2, 3])
        h.end_input()
        assert h.values == ["k:22", "k:33"]


def test_a_miss_of_the_skip_strategy_fails_the_job() -> None:
    pattern = a_then_b(AfterMatchSkipStrategy.skip_to_first("a").throw_exception_on_miss())
    with harness(pattern) as h:
        h.push_all(["k:a1", "k:b1"], [1, 2])
        with pytest.raises(UserFunctionError, match="same match would be found again"):
            h.advance_watermark(2)


def test_state_is_small_and_goes_away() -> None:
    with harness(a_then_b(AfterMatchSkipStrategy.skip_past_last_event()).within(1000)) as h:
        for n in range(200):
            h.push_all([f"k:a{n}", f"k:x{n}"], [2 * n, 2 * n + 1])
        h.advance_watermark(999)
        assert len(h.state("k")["cep-events"]) == 200  # the x are not kept
        h.push("k:b", 1000)  # a0 has timed out; the match that begins with a1 ends all others
        h.advance_watermark(1000)
        assert h.values == ["k:a1 k:b"]
        h.end_input()
        assert h.state("k") == {}


def pattern_for_snapshots() -> Pattern:
    return (
        Pattern.begin("a")
        .where(lambda e: kind(e) == "a")
        .followed_by_any("b")
        .where(lambda e: kind(e) == "b")
        .one_or_more()
        .followed_by("c")
        .where(lambda e: kind(e) == "c")
        .within(40)
    )


@pytest.mark.parametrize("backends", [("hashmap", "hashmap"), ("lmdb", "lmdb"), ("hashmap", "lmdb")])
def test_matches_go_on_after_snapshots_at_other_parallelism(backends: tuple[str, str]) -> None:
    events = [(f"{'klmn'[(i * 7) % 4]}:{'abcx'[(i * i + i // 3) % 4]}{i}", i * 2 + (i % 5)) for i in range(60)]

    def results(cuts: list[int]) -> list[Any]:
        found: list[Any] = []
        snapshot = None
        for number, (start, end) in enumerate(zip([0, *cuts], [*cuts, len(events)], strict=True)):
            with harness(
                pattern_for_snapshots(),
                lambda s: s.process(Alerts()),
                parallelism=(1, 3, 2)[number % 3],
                max_parallelism=8,
                state_backend=backends[number % 2],
                restore_from=snapshot,
            ) as h:
                for event, time in events[start:end]:
                    h.push(event, time)
                    if time % 3 == 0 and time - 12 > h.watermark:
                        h.advance_watermark(time - 12)
                if end == len(events):
                    h.end_input()
                found += h.values + h.side_output(TIMED_OUT)
                snapshot = h.snapshot()
        return sorted(found, key=str)

    whole = results([])
    assert len(whole) > 20
    assert results([13, 30]) == whole
    assert results([7, 21, 22, 50]) == whole


@for_seeds(5)
def test_a_job_gives_the_same_matches_over_a_failure(seed: int) -> None:
    # Per key and round a at 10n, b at 10n+1 and 10n+2, c at 10n+3: one match each, whatever fails in between.
    rounds = 5
    env = local_environment(parallelism=2, seed=seed)
    source = ManualSource()
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "events").key_by(key)
    pattern = Pattern.begin("a").where(lambda e: kind(e) == "a").next("b").where(lambda e: kind(e) == "b").times(2).next("c")
    collected = env.collect(CEP.pattern(stream, pattern.where(lambda e: kind(e) == "c")).select(told))
    with env.start() as job:
        for n in range(rounds):
            source.push_all([f"{k}:{t}{n}" for k in "kl" for t in "abbc"[:3]], [10 * n + i for _ in "kl" for i in range(3)])
            source.advance_watermark(10 * n + 2)
            job.settle()
            if n in (0, 2):
                job.checkpoint()
            if n == 3:
                job.fail()
            source.push_all([f"{k}:c{n}" for k in "kl"], [10 * n + 3] * 2)
        source.end()
        job.finish()
    assert job.restarts == 1
    assert sorted(collected.values) == sorted(f"{k}:a{n} {k}:b{n} {k}:b{n} {k}:c{n}" for k in "kl" for n in range(rounds))
