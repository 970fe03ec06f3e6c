"""Time to live: Flink's rules (a value has expired once ``last access + ttl <= now``), on both backends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.unit.state.backends import new_backend
from tests.unit.state.memory_files import MemoryFiles
from wiesel.core.clock import ManualClock
from wiesel.core.durations import Time
from wiesel.spi.state import ListStateDescriptor, MapStateDescriptor, ReducingStateDescriptor, StateTtlConfig, ValueStateDescriptor
from wiesel.state.handles import make_state
from wiesel.state.key_context import KeyContext

TTL_MS = 100


def config(change: Callable[[Any], Any] = lambda builder: builder) -> StateTtlConfig:
    built: StateTtlConfig = change(StateTtlConfig.new_builder(Time.milliseconds(TTL_MS))).build()
    return built


class World:
    def __init__(self, kind: str, directory: Path) -> None:
        self.kind = kind
        self.directory = directory
        self.clock = ManualClock(10_000)
        self.files = MemoryFiles()
        self.context = KeyContext()
        self.context.key = "k"
        self.backends = [new_backend(kind, directory, clock=self.clock)]

    @property
    def backend(self) -> Any:
        return self.backends[-1]

    def make(self, descriptor: Any, ttl: StateTtlConfig | None) -> Any:
        if ttl is not None:
            descriptor.enable_time_to_live(ttl)
        return make_state(descriptor, self.backend, self.context)

    def restart(self, *, full: bool = False) -> None:
        handle = self.backend.snapshot(1, full=full).run(self.files)
        self.backends.append(new_backend(self.kind, self.directory, clock=self.clock))
        self.backend.restore([handle], self.files)


@pytest.fixture(params=["hashmap", "lmdb", "rocksdb"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    made = World(request.param, tmp_path)
    yield made
    for backend in made.backends:
        backend.close()


def test_a_value_expires_when_its_time_has_passed_since_it_was_written(world: World) -> None:
    state = world.make(ValueStateDescriptor("v"), config())
    state.update("x")
    world.clock.advance(TTL_MS - 1)
    assert state.value() == "x"
    world.clock.advance(1)
    assert state.value() is None
    world.clock.advance(-1)
    assert state.value() is None, "once found to have expired it is gone"
    state.update("y")
    world.clock.advance(TTL_MS - 1)
    state.update("z")
    world.clock.advance(TTL_MS - 1)
    assert state.value() == "z"


def test_reading_puts_the_expiry_off_if_asked_for(world: World) -> None:
    state = world.make(ValueStateDescriptor("v"), config(lambda b: b.update_ttl_on_read_and_write()))
    state.update("x")
    for _ in range(5):
        world.clock.advance(TTL_MS - 1)
        assert state.value() == "x"
    world.clock.advance(TTL_MS)
    assert state.value() is None


def test_expired_values_can_be_seen_until_they_are_cleaned_up(world: World) -> None:
    state = world.make(ValueStateDescriptor("v"), config(lambda b: b.return_expired_if_not_cleaned_up().disable_cleanup_in_background()))
    state.update("x")
    world.clock.advance(TTL_MS)
    assert state.value() == "x"
    assert state.value() is None, "reading it has cleaned it up"


def test_elements_of_lists_expire_one_by_one(world: World) -> None:
    state = world.make(ListStateDescriptor("l"), config())
    state.add(1)
    world.clock.advance(60)
    state.add_all([2, 3])
    assert state.get() == [1, 2, 3]
    world.clock.advance(40)
    assert state.get() == [2, 3]
    state.update([4])
    world.clock.advance(60)
    assert state.get() == [4]
    world.clock.advance(40)
    assert state.get() == []


def test_entries_of_maps_expire_one_by_one(world: World) -> None:
    state = world.make(MapStateDescriptor("m"), config())
    state.put("a", 1)
    world.clock.advance(60)
    state.put("b", 2)
    assert dict(state.items()) == {"a": 1, "b": 2}
    world.clock.advance(40)
    assert state.get("a") is None
    assert dict(state.items()) == {"b": 2}
    assert not state.is_empty()
    world.clock.advance(60)
    assert state.is_empty()
    assert dict(state.items()) == {}


def test_reduced_values_start_anew(world: World) -> None:
    state = world.make(ReducingStateDescriptor("r", lambda a, b: a + b), config())
    state.add(1)
    world.clock.advance(60)
    state.add(2)
    world.clock.advance(60)
    assert state.get() == 3
    world.clock.advance(40)
    state.add(5)
    assert state.get() == 5


def test_times_survive_a_restart(world: World) -> None:
    state = world.make(ValueStateDescriptor("v"), config())
    state.update("x")
    world.clock.advance(60)
    world.restart()
    state = world.make(ValueStateDescriptor("v"), config())
    assert state.value() == "x"
    world.clock.advance(40)
    assert state.value() is None


def test_expired_values_are_left_out_when_state_is_written_anew(world: World) -> None:
    values, lists, maps = ValueStateDescriptor("v"), ListStateDescriptor("l"), MapStateDescriptor("m")
    quiet = config(lambda b: b.disable_cleanup_in_background().cleanup_full_snapshot())
    states = [world.make(descriptor, quiet) for descriptor in (values, lists, maps)]
    for key in ("old", "both", "new"):
        world.context.key = key
        if key == "new":
            world.clock.advance(60)
        states[0].update(1)
        states[1].add(1)
        states[2].put("old", 1)
    world.context.key = "both"
    states[1].add(2)
    states[2].put("new", 2)
    world.clock.advance(40)
    handle = world.backend.snapshot(1, full=True).run(world.files)
    plain = new_backend(world.kind, world.directory, clock=world.clock)
    world.backends.append(plain)
    plain.restore([handle], world.files)
    stored = {}
    for name, kind in [("v", "value"), ("l", "list"), ("m", "map")]:
        stored[name] = {key: value for key, _, value in plain.table(name, kind=kind).items()}
    assert stored == {"v": {"new": 1}, "l": {"both": [2], "new": [1]}, "m": {"both": {"new": 2}, "new": {"old": 1}}}


def test_expired_values_are_cleaned_up_while_others_are_used(world: World) -> None:
    state = world.make(ValueStateDescriptor("v"), config())
    for key in range(200):
        world.context.key = key
        state.update(key)
    world.clock.advance(TTL_MS)
    world.context.key = "other"
    # Five entries are looked at per access; a round through all may have begun before.
    for _ in range(2 * 200 // 5 + 5):
        state.update(1)
        state.value()
        world.clock.advance(1)
    backend = world.backend
    inner = backend._tables["v"]
    assert {key for key, _, _ in inner.items()} == {"other"}


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("after", [False, True])
def test_time_to_live_can_be_switched_on_and_off(world: World, before: bool, after: bool) -> None:
    def states(on: bool) -> list[Any]:
        return [
            world.make(make("x" + make.__name__), config() if on else None)
            for make in (ValueStateDescriptor, ListStateDescriptor, MapStateDescriptor)
        ]

    value, elements, entries = states(before)
    value.update(1)
    elements.add_all([1, 2])
    entries.put_all({"a": 1, "b": None})
    world.clock.advance(50)
    world.restart()
    value, elements, entries = states(after)
    assert (value.value(), elements.get(), dict(entries.items())) == (1, [1, 2], {"a": 1, "b": None})
    world.restart()
    value, elements, entries = states(after)
    assert (value.value(), elements.get(), dict(entries.items())) == (1, [1, 2], {"a": 1, "b": None})
    world.clock.advance(50)
    # Values that carried no time count as written when they were restored.
    assert value.value() == (None if before and after else 1)
    world.clock.advance(50)
    assert value.value() == (None if after else 1)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("on_read", [False, True])
def test_against_a_model_with_restarts(world: World, seed: int, on_read: bool) -> None:
    random = Random(seed)
    change = (lambda b: b.update_ttl_on_read_and_write()) if on_read else (lambda b: b)
    value, entries = world.make(ValueStateDescriptor("v"), config(change)), world.make(MapStateDescriptor("m"), config(change))
    model: dict[Any, tuple[int, Any]] = {}

    def read(slot: Any) -> Any:
        accessed, found = model.get(slot, (-TTL_MS, None))
        now = world.clock.now_ms()
        if accessed + TTL_MS <= now:
            model.pop(slot, None)
            return None
        if on_read:
            model[slot] = (now, found)
        return found

    for step in range(400):
        world.clock.advance(random.randrange(30))
        key = world.context.key = random.randrange(4)
        map_key = random.randrange(3)
        match random.randrange(6):
            case 0:
                value.update(step)
                model[key] = (world.clock.now_ms(), step)
            case 1:
                assert value.value() == read(key), f"step {step} of seed {seed}"
            case 2:
                entries.put(map_key, step)
                model[key, map_key] = (world.clock.now_ms(), step)
            case 3:
                assert entries.get(map_key) == read((key, map_key)), f"step {step} of seed {seed}"
            case 4:
                expected = {other: read((key, other)) for other in range(3)}
                assert dict(entries.items()) == {k: v for k, v in expected.items() if v is not None}, f"step {step} of seed {seed}"
            case 5 if step % 10 == 0:
                world.restart(full=random.random() < 0.5)
                value, entries = world.make(ValueStateDescriptor("v"), config(change)), world.make(MapStateDescriptor("m"), config(change))
