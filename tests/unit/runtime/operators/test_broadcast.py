"""Functions of a stream and a broadcast one: contexts, state of both kinds, timers, restrictions, BATCH mode."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.runtime.harness import OperatorHarness, Record, Side, Watermark
from wiesel.core.durations import Duration
from wiesel.core.errors import StateAccessError, UserFunctionError
from wiesel.core.ids import MIN_TIMESTAMP
from wiesel.runtime.operators.broadcast import broadcast_process_operator, keyed_broadcast_process_operator
from wiesel.spi.functions import BroadcastProcessFunction, KeyedBroadcastProcessFunction, KeyedStateFunction
from wiesel.spi.output_tag import OutputTag
from wiesel.spi.state import ListStateDescriptor, MapStateDescriptor, StateTtlConfig, ValueStateDescriptor
from wiesel.spi.timers import TimeDomain
from wiesel.types import Types

RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())
NOTES = MapStateDescriptor("notes", Types.STRING(), Types.STRING())
COUNT = ValueStateDescriptor("count", Types.INT())
ASIDE = OutputTag("aside", Types.STRING())


class Steps(KeyedBroadcastProcessFunction[str, Any, Any, Any]):
    """Runs what it is given as the record of either side: a function of the function object and the context."""

    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(COUNT)
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen"))

    def process_element(self, value: Any, ctx: Any) -> Any:
        return value[1](self, ctx)

    def process_broadcast_element(self, value: Any, ctx: Any) -> Any:
        return value(self, ctx)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield timestamp, ctx.timestamp(), ctx.get_current_key(), ctx.time_domain(), dict(ctx.get_broadcast_state(RULES).items())
        with pytest.raises(StateAccessError, match="read-only"):
            ctx.get_broadcast_state(RULES).put("x", 1)


class PlainSteps(BroadcastProcessFunction[Any, Any, Any]):
    def process_element(self, value: Any, ctx: Any) -> Any:
        return value(ctx)

    def process_broadcast_element(self, value: Any, ctx: Any) -> Any:
        return value(ctx)


def keyed(**options: Any) -> OperatorHarness:
    payload = {"function": Steps(), "descriptors": [RULES, NOTES]}
    return OperatorHarness(keyed_broadcast_process_operator, payload=payload, **options)


def plain(**options: Any) -> OperatorHarness:
    return OperatorHarness(broadcast_process_operator, payload={"function": PlainSteps(), "descriptors": [RULES]}, **options)


def element(harness: OperatorHarness, key: str, step: Callable[[Any, Any], Any], timestamp: int | None = None) -> list[Any]:
    harness.take()
    harness.push([(key, step)], None if timestamp is None else [timestamp], keys=[key])
    return harness.values


def broadcast(harness: OperatorHarness, step: Callable[..., Any], timestamp: int | None = None) -> list[Any]:
    harness.take()
    harness.push([step], None if timestamp is None else [timestamp], input_index=1)
    return harness.values


def put(key: str, value: int) -> Callable[..., Any]:
    return lambda *arguments: arguments[-1].get_broadcast_state(RULES).put(key, value)


def rules(*arguments: Any) -> list[Any]:
    return [dict(arguments[-1].get_broadcast_state(RULES).items())]


@pytest.fixture(params=["hashmap", "lmdb"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    return {"backend": request.param, "local_dir": str(tmp_path)}


def test_what_the_broadcast_side_puts_the_other_side_reads(backend: dict[str, str]) -> None:
    harness = keyed(**backend)
    assert element(harness, "k", rules) == [{}]
    broadcast(harness, put("a", 1))
    broadcast(harness, lambda f, ctx: ctx.get_broadcast_state(NOTES).put("n", "x"))
    assert element(harness, "k", rules) == [{"a": 1}]
    assert broadcast(harness, rules) == [{"a": 1}]
    harness.close()


def test_plain_functions_have_broadcast_state_too() -> None:
    harness = plain()
    broadcast(harness, put("a", 1))
    harness.take()
    harness.push([rules], input_index=0)
    assert harness.values == [{"a": 1}]


def test_broadcast_and_keyed_state_and_timers_are_restored(backend: dict[str, str]) -> None:
    harness = keyed(**backend)
    broadcast(harness, put("a", 1))
    element(harness, "k", lambda f, ctx: f.count.update(7))
    element(harness, "k", lambda f, ctx: ctx.timer_service().register_event_time_timer(50))
    snapshot = harness.snapshot()
    broadcast(harness, put("a", 2))
    again = harness.restored(snapshot)
    assert element(again, "k", rules) == [{"a": 1}]
    assert element(again, "k", lambda f, ctx: [f.count.value()]) == [7]
    again.take()
    again.watermark(50)
    assert again.values == [(50, 50, "k", TimeDomain.EVENT_TIME, {"a": 1})]
    harness.close()
    again.close()


def test_contexts_tell_key_time_and_watermark() -> None:
    harness = keyed(clock_ms=1234)
    harness.watermark(10)

    def told(f: Any, ctx: Any) -> Any:
        key = ctx.get_current_key() if hasattr(ctx, "get_current_key") else None
        yield key, ctx.timestamp(), ctx.current_watermark(), ctx.current_processing_time()

    assert element(harness, "k", told, 15) == [("k", 15, 10, 1234)]
    assert broadcast(harness, told, 20) == [(None, 20, 10, 1234)]
    assert broadcast(harness, told) == [(None, MIN_TIMESTAMP, 10, 1234)]
    unkeyed = plain(clock_ms=5)
    unkeyed.watermark(3)
    for side in (0, 1):
        unkeyed.push([lambda ctx: [(ctx.timestamp(), ctx.current_watermark(), ctx.current_processing_time())]], [9], input_index=side)
    assert unkeyed.values == [(9, 3, 5)] * 2


def test_results_carry_the_timestamp_of_their_record_and_may_go_aside() -> None:
    harness = keyed()
    harness.push([lambda f, ctx: [(ASIDE, "b"), 1]], [5], input_index=1)
    harness.push([("k", lambda f, ctx: [2, (ASIDE, "e")])], [6], keys=["k"])
    assert harness.output == [Side("aside", "b", 5), Record(1, 5), Side("aside", "e", 6), Record(2, 6)]


def test_processing_timers_fire_with_the_broadcast_state_in_reach() -> None:
    harness = keyed()
    broadcast(harness, put("a", 3))
    element(harness, "k", lambda f, ctx: ctx.timer_service().register_processing_time_timer(100))
    harness.advance_processing_time(100)
    assert harness.values == [(100, 100, "k", TimeDomain.PROCESSING_TIME, {"a": 3})]


def test_the_watermark_follows_what_its_timers_gave() -> None:
    harness = keyed()
    element(harness, "k", lambda f, ctx: ctx.timer_service().register_event_time_timer(50))
    harness.take()
    harness.watermark(60)
    assert [type(event) for event in harness.output] == [Record, Watermark]


def test_the_state_of_every_key_can_be_changed_from_the_broadcast_side(backend: dict[str, str]) -> None:
    harness = keyed(**backend)
    for key, count in (("a", 1), ("b", 2), ("c", 3)):
        element(harness, key, lambda f, ctx, n=count: f.count.update(n))
    element(harness, "d", lambda f, ctx: f.seen.add("of another state"))
    visited: dict[str, int] = {}

    class Double(KeyedStateFunction):
        def process(self, key: Any, state: Any) -> None:
            visited[key] = state.value()
            if key == "b":
                state.clear()
            else:
                state.update(2 * state.value())

    broadcast(harness, lambda f, ctx: ctx.apply_to_keyed_state(COUNT, Double()))
    assert visited == {"a": 1, "b": 2, "c": 3}
    found = [element(harness, key, lambda f, ctx: [f.count.value()])[0] for key in "abcd"]
    assert found == [2, None, 6, None]
    again = harness.restored(harness.snapshot())
    found = [element(again, key, lambda f, ctx: [f.count.value()])[0] for key in "abcd"]
    assert found == [2, None, 6, None]
    harness.close()
    again.close()


def test_each_key_is_visited_once_by_a_callable_with_any_kind_of_state(backend: dict[str, str]) -> None:
    harness = keyed(**backend)
    expiring = ValueStateDescriptor("expiring", Types.INT())
    expiring.enable_time_to_live(StateTtlConfig.new_builder(Duration.of_seconds(60)).build())
    pieces, entries = ListStateDescriptor("pieces"), MapStateDescriptor("entries")
    keys = [f"k{i}" for i in range(50)]
    visits: dict[str, list[str]] = {}

    def fill(f: Any, ctx: Any) -> None:
        f.count.update(1)

    for key in keys:
        element(harness, key, fill)

    def note(name: str, change: Callable[[Any], None]) -> Callable[[Any, Any], None]:
        def visit(key: Any, state: Any) -> None:
            visits.setdefault(name, []).append(key)
            change(state)

        return visit

    # States that only the broadcast side asks for; what it visits first it fills for the others.
    def first(f: Any, ctx: Any) -> None:
        runtime = harness_states(harness)
        states = [runtime.get_state(expiring), runtime.get_list_state(pieces), runtime.get_map_state(entries)]

        def fill_others(key: Any, state: Any) -> None:
            states[0].update(1)
            states[1].add(key)
            states[2].put(key, 1)

        ctx.apply_to_keyed_state(COUNT, fill_others)

    broadcast(harness, first)
    harness.snapshot()  # brings what waits in memory to disk, where there is one
    for descriptor, change in (
        (expiring, lambda state: state.update(2)),
        (pieces, lambda state: state.add("more")),
        (entries, lambda state: state.put("more", 1)),
    ):
        visit = note(descriptor.name, change)
        broadcast(harness, lambda f, ctx, d=descriptor, v=visit: ctx.apply_to_keyed_state(d, v))
    assert {name: sorted(found) for name, found in visits.items()} == dict.fromkeys(("expiring", "pieces", "entries"), sorted(keys))
    harness.close()


def harness_states(harness: OperatorHarness) -> Any:
    from wiesel.runtime.runtime_context import StreamingRuntimeContext

    return StreamingRuntimeContext(harness.context, harness.operator.key_context)


def test_after_visiting_all_keys_there_is_no_key() -> None:
    harness = keyed()
    element(harness, "a", lambda f, ctx: f.count.update(1))

    def visit_and_read(f: Any, ctx: Any) -> None:
        with pytest.raises(ZeroDivisionError):
            ctx.apply_to_keyed_state(COUNT, lambda key, state: 1 // 0)
        f.count.value()

    with pytest.raises(StateAccessError, match="no current key"):
        broadcast(harness, visit_and_read)


def refused(harness: OperatorHarness, side: int, step: Callable[..., Any], message: str) -> None:
    record = ("k", step) if side == 0 and isinstance(harness.operator.function, Steps) else step
    with pytest.raises(StateAccessError, match=message) as raised:
        harness.push([record], keys=["k"] if side == 0 else None, input_index=side)
    assert __file__ in str(raised.value)  # the user's line


RESTRICTIONS: dict[str, tuple[Callable[[], OperatorHarness], int, Callable[..., Any], str]] = {
    "keyed state on the broadcast side": (keyed, 1, lambda f, ctx: [f.count.value()], r"no current key.*apply_to_keyed_state"),
    "keyed state is not changed there": (keyed, 1, lambda f, ctx: f.count.update(1), r"no current key"),
    "keyed list state is not changed there": (keyed, 1, lambda f, ctx: f.seen.add(1), r"no current key"),
    "event timer on the broadcast side": (
        keyed,
        1,
        lambda f, ctx: ctx.timer_service().register_event_time_timer(1),
        r"Setting timers is not possible in process_broadcast_element.*'under test'.*in process_element",
    ),
    "processing timer on the broadcast side": (
        keyed,
        1,
        lambda f, ctx: ctx.timer_service().delete_processing_time_timer(1),
        r"Deleting timers is not possible in process_broadcast_element",
    ),
    "put on the keyed side": (keyed, 0, lambda f, ctx: ctx.get_broadcast_state(RULES).put("a", 1), r"put\(\).*read-only"),
    "clear on the keyed side": (keyed, 0, lambda f, ctx: ctx.get_broadcast_state(RULES).clear(), r"clear\(\).*read-only"),
    "put on the plain side": (plain, 0, lambda ctx: ctx.get_broadcast_state(RULES).put("a", 1), r"put\(\).*read-only"),
    "undeclared state": (
        keyed,
        1,
        lambda f, ctx: ctx.get_broadcast_state(MapStateDescriptor("ruels")),
        r"'ruels'.* is no broadcast state of operator 'under test', which has: notes, rules.*broadcast\(\.\.\.\)",
    ),
    "undeclared on the keyed side": (keyed, 0, lambda f, ctx: ctx.get_broadcast_state(MapStateDescriptor("x")), r"no broadcast state"),
    "a name for a descriptor": (plain, 1, lambda ctx: ctx.get_broadcast_state("rules"), r"'rules' is no broadcast state"),
    "timers without keys": (
        plain,
        0,
        lambda ctx: ctx.timer_service().register_event_time_timer(1),
        r"Setting timers is only supported on keyed streams",
    ),
}


@pytest.mark.parametrize("what", RESTRICTIONS)
def test_restrictions(what: str) -> None:
    make, side, step, message = RESTRICTIONS[what]
    refused(make(), side, step, "(?s)" + message)


def test_what_is_no_function_of_key_and_state_is_refused() -> None:
    with pytest.raises(UserFunctionError, match=r"takes a KeyedStateFunction, or a callable of key and state, got 5"):
        broadcast(keyed(), lambda f, ctx: ctx.apply_to_keyed_state(COUNT, 5))


def test_a_record_that_fails_is_skipped_if_the_policy_says_so() -> None:
    harness = keyed(error_policy="skip")
    harness.push([put("a", 1), lambda f, ctx: 1 // 0, put("b", 2)], input_index=1)
    assert element(harness, "k", rules) == [{"a": 1, "b": 2}]


def test_in_batch_mode_plain_records_wait_for_the_broadcast_side() -> None:
    harness = plain(config={"execution.runtime-mode": "BATCH"})
    harness.push([rules, rules], input_index=0)
    broadcast(harness, put("a", 1))
    broadcast(harness, put("b", 2))
    assert harness.values == []
    harness.operator.end_input(1)
    assert harness.values == [{"a": 1, "b": 2}] * 2
    harness.take()
    harness.push([rules], input_index=0)
    assert harness.values == [{"a": 1, "b": 2}]


def test_in_batch_mode_what_waits_may_be_more_than_fits_into_memory(tmp_path: Path) -> None:
    harness = plain(config={"execution.runtime-mode": "BATCH"}, open=False)
    harness.context.managed_memory_bytes = 500
    harness.context.local_dir = str(tmp_path)
    harness.driver.open()
    for _ in range(20):
        harness.push([rules, rules], [1, None], input_index=0)
    assert harness.operator._spill.bytes_written > 0  # type: ignore[attr-defined]
    broadcast(harness, put("a", 1))
    harness.operator.end_input(1)
    assert harness.values == [{"a": 1}] * 40
    harness.operator.close()
    assert harness.operator._spill.open_files == 0  # type: ignore[attr-defined]


def test_in_batch_mode_the_last_watermark_comes_behind_what_waited() -> None:
    # The watermark of both sides may come before the end of the broadcast side is announced.
    harness = plain(config={"execution.runtime-mode": "BATCH"})
    harness.push([rules], input_index=0)
    broadcast(harness, put("a", 1))
    harness.end_input(inputs=2)
    assert [type(event) for event in harness.output] == [Record, Watermark]
    assert harness.values == [{"a": 1}]
