"""State backends against a model of plain dicts: all operations, time to live, snapshots that fail or are late, restore with and without
claim, rescaling, classes of records that change, discarding.
"""

from __future__ import annotations

import copy
import dataclasses
import operator
import tempfile
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Annotated, Any, NamedTuple

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.unit.state.memory_files import MemoryFiles
from wiesel.common import Alias, Time
from wiesel.core.clock import ManualClock
from wiesel.core.errors import CheckpointStorageError
from wiesel.spi.functions import AggregateFunction
from wiesel.spi.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from wiesel.state import lmdb as lmdb_backend
from wiesel.state import lmdb_env, lmdb_stores, rocksdb_env, snapshots, stores, tracked
from wiesel.state.factory import make_backend
from wiesel.state.handles import make_state
from wiesel.state.key_context import KeyContext
from wiesel.state.key_groups import key_group, key_group_range, subtask_for_key_group
from wiesel.state.operator_state import handles_for
from wiesel.state.snapshots import SnapshotLostError
from wiesel.types import records

pytestmark = pytest.mark.slow

MAX_PARALLELISM = 8
KINDS = ["hashmap", "lmdb", "rocksdb"]
KEYS = [0, 1, True, 2.5, "a", ("a", 1), ("a", 1.0), None, "long" * 60, 1 << 70]
MAP_KEYS = [0, "x", ("y", 2), None, "long" * 60]
VALUES = [0, 1, "v", 2.5, (1, "t"), [1, 2], {"k": [3]}, b"bytes"]
NAMESPACES = [None, 5, ("w", 1)]
TTL_MS = 10


def order_class(version: int) -> Any:
    """Return the class of orders in a version of the program: a field is added, one removed, one widened, and one renamed."""
    fields: list[Any] = [
        [("number", int), ("amount", int), ("note", str)],
        [("city", str, dataclasses.field(default="?")), ("amount", float), ("number", int)],
        [("number", int), ("total", Annotated[float, Alias("amount")]), ("city", str, dataclasses.field(default="?"))],
    ][version]
    made = dataclasses.make_dataclass("Order", fields, kw_only=True)
    made.__module__ = "program"
    return made


VERSIONS = 3


def evolved(order: dict[str, Any], version: int) -> dict[str, Any]:
    """Return the fields of an order as a later version of the program sees them."""
    amount = order.get("amount", order.get("total"))
    if version == 0:
        return order
    return {"number": order["number"], "city": order.get("city", "?"), "amount" if version == 1 else "total": float(amount or 0)}


def forget_classes() -> None:
    """Be another process, which has declared no class yet."""
    records._layouts.clear()
    records._of_class.clear()
    records._not_found.clear()


@pytest.fixture(autouse=True, scope="module")
def _small_limits() -> Iterator[None]:
    """Make everything that happens with much state happen with little."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tracked, "_FLOOR_BYTES", 300)
        patch.setattr(tracked, "_SLICE_ENTRIES", 2)
        patch.setattr(tracked, "_MOST_FILES", 6)
        patch.setattr(stores, "CHUNK_ENTRIES", 3)
        patch.setattr(stores, "_AT_ONCE_FACTOR", 2)
        patch.setattr(stores, "_AT_ONCE_ENTRIES", 5)
        patch.setattr(snapshots, "_FILE_BYTES", 600)
        patch.setattr(lmdb_env, "_CHUNK_ENTRIES", 2)
        patch.setattr(rocksdb_env, "_CHUNK_ENTRIES", 2)
        patch.setattr(lmdb_stores, "_FIRST_LIMIT", 3)
        patch.setattr(lmdb_stores, "_MANY_PIECES", 2)
        patch.setattr(lmdb_backend, "_SMALLEST_LIMIT", 3)
        patch.setattr(lmdb_backend, "_SCAN_ENTRIES", 4)
        patch.setattr(lmdb_backend, "_SPOOL_BYTES", 200)
        yield


class Mean(AggregateFunction):
    """The sum of numbers and how many they were; the result is their mean."""

    def create_accumulator(self) -> tuple[int, int]:
        return 0, 0

    def add(self, value: int, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator: tuple[int, int]) -> float:
        return accumulator[0] / accumulator[1]

    def merge(self, acc_a: tuple[int, int], acc_b: tuple[int, int]) -> tuple[int, int]:
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


class Subtask:
    """One backend with a handle per state."""

    def __init__(self, kind: str, index: int, parallelism: int, directory: str, clock: ManualClock, order: Any) -> None:
        self.order = order
        self.backend = make_backend(
            kind,
            operator_id="op",
            subtask=index,
            parallelism=parallelism,
            key_group_range=key_group_range(index, MAX_PARALLELISM, parallelism),
            local_dir=directory,
            clock=clock,
            options={"wiesel.state.lmdb.map-size": "32kb", "wiesel.state.lmdb.cache-size": "1kb", "wiesel.state.rocksdb.cache-size": "1kb"},
        )

    def open(self, random: Random) -> None:
        """Declare the states, in an order of its own: subtasks may declare them when they first need them."""
        self.context = KeyContext()
        made: dict[str, Any] = {}
        lives = StateTtlConfig.new_builder(Time.milliseconds(TTL_MS)).build()
        sessions = ValueStateDescriptor("sessions")
        sessions.enable_time_to_live(lives)
        declared: list[tuple[str, Any, bool]] = [
            ("value", ValueStateDescriptor("value"), False),
            ("list", ListStateDescriptor("list"), False),
            ("map", MapStateDescriptor("map"), False),
            ("windows", ValueStateDescriptor("windows"), True),
            ("pieces", ListStateDescriptor("pieces"), True),
            ("sums", ReducingStateDescriptor("sums", operator.add), True),
            ("means", AggregatingStateDescriptor("means", Mean()), True),
            ("maps", MapStateDescriptor("maps"), True),
            ("orders", ValueStateDescriptor("orders", self.order), False),
            ("sessions", sessions, False),
        ]
        for name, descriptor, spaced in random.sample(declared, len(declared)):
            how = {"namespaced": True} if spaced else {}
            made[name] = make_state(descriptor, self.backend, self.context, **how)
        self.value, self.list, self.map = made["value"], made["list"], made["map"]
        self.windows, self.pieces, self.sums, self.maps = made["windows"], made["pieces"], made["sums"], made["maps"]
        self.means = made["means"]
        self.orders, self.sessions = made["orders"], made["sessions"]
        self.timers = self.backend.timers("event")
        self.entries = self.backend.operator_state.get_list("entries")


class Model:
    """What the state has to be."""

    def __init__(self) -> None:
        self.value: dict[Any, Any] = {}
        self.list: dict[Any, list[Any]] = {}
        self.map: dict[Any, dict[Any, Any]] = {}
        self.windows: dict[Any, Any] = {}
        self.pieces: dict[Any, list[Any]] = {}
        self.sums: dict[Any, int] = {}
        self.means: dict[Any, tuple[int, int]] = {}
        self.maps: dict[Any, dict[Any, Any]] = {}
        self.orders: dict[Any, dict[str, Any]] = {}
        self.sessions: dict[Any, tuple[Any, int]] = {}
        """Value, and when it expires."""
        self.timers: set[tuple[int, Any, Any]] = set()
        self.entries: Counter[int] = Counter()


class Retained(NamedTuple):
    """A complete checkpoint or savepoint and what it has to contain."""

    checkpoint_id: int
    model: Model
    handles: list[Any]
    savepoint: bool


class Change(NamedTuple):
    """An operation and its arguments; each operation takes those it needs."""

    what: str
    key: Any
    namespace: Any
    map_key: Any
    value: Any
    time: int
    flag: bool


OPERATIONS = (
    "put_value change_value_in_place clear_value add_to_list add_many_to_list clear_list put_entry remove_entry read_entry "
    "remove_while_iterating remove_the_rest_while_iterating clear_map window_value window_list window_map add_to_sum merge_windows "
    "put_order clear_order put_session clear_session pass_time "
    "add_to_mean register_timer delete_timer add_operator_entry put_value add_to_list put_entry window_list register_timer"
).split()


class StateMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.directory = tempfile.TemporaryDirectory()
        self.files = MemoryFiles()
        self.model = Model()
        self.retained: list[Retained] = []
        self.late: list[tuple[int, Model, list[Any], bool]] = []
        self.next_id = 1
        self.subtasks: list[Subtask] = []
        self.clock = ManualClock(1_000)
        self.version = 0
        forget_classes()
        self.order = order_class(0)

    @initialize(kind=st.sampled_from(KINDS), parallelism=st.integers(1, 3), seed=st.integers(0, 1 << 32))
    def start(self, kind: str, parallelism: int, seed: int) -> None:
        self._start(kind, parallelism, [], Random(seed))

    def _start(self, kind: str, parallelism: int, handles: list[Any], random: Random) -> None:
        where = self.directory.name, self.clock, self.order
        self.subtasks = [Subtask(kind, index, parallelism, *where) for index in range(parallelism)]
        for index, subtask in enumerate(self.subtasks):
            needed = handles_for(handles, index, parallelism, key_group_range(index, MAX_PARALLELISM, parallelism))
            subtask.backend.restore(needed, self.files)
            subtask.open(random)

    def teardown(self) -> None:
        for subtask in self.subtasks:
            subtask.backend.close()
        self.directory.cleanup()

    def at(self, key: Any) -> Subtask:
        subtask = self.subtasks[subtask_for_key_group(key_group(key, MAX_PARALLELISM), MAX_PARALLELISM, len(self.subtasks))]
        subtask.context.key = key
        return subtask

    # Keyed state

    @rule(seed=st.integers(0, 1 << 32), count=st.sampled_from([200, 40, 5, 1]))
    def change(self, seed: int, count: int) -> None:
        # Hypothesis alone draws too few operations to reach what many of them do together.
        random = Random(seed)
        for _ in range(count):
            change = Change(*map(random.choice, (OPERATIONS, KEYS, NAMESPACES, MAP_KEYS, VALUES, range(7), (False, True))))
            getattr(self, change.what)(change)

    def put_value(self, c: Change) -> None:
        self.at(c.key).value.update(copy.deepcopy(c.value))
        self.model.value[c.key] = c.value

    def change_value_in_place(self, c: Change) -> None:
        state = self.at(c.key).value
        value = state.value()
        if isinstance(value, list):
            value.append(9)
            state.update(value)
            self.model.value[c.key] = list(value)

    def clear_value(self, c: Change) -> None:
        state = self.at(c.key).value
        state.update(None) if c.flag else state.clear()
        self.model.value.pop(c.key, None)

    def add_to_list(self, c: Change) -> None:
        self.at(c.key).list.add(c.value)
        self.model.list.setdefault(c.key, []).append(c.value)

    def add_many_to_list(self, c: Change) -> None:
        values = [c.value] * c.time
        state = self.at(c.key).list
        (state.update if c.flag else state.add_all)(values)
        expected = values if c.flag else self.model.list.get(c.key, []) + values
        self.model.list.pop(c.key, None)
        if expected:
            self.model.list[c.key] = expected

    def clear_list(self, c: Change) -> None:
        self.at(c.key).list.clear()
        self.model.list.pop(c.key, None)

    def put_entry(self, c: Change) -> None:
        value = None if c.time == 0 else c.value
        self.at(c.key).map.put(c.map_key, value)
        self.model.map.setdefault(c.key, {})[c.map_key] = value

    def remove_entry(self, c: Change) -> None:
        self.at(c.key).map.remove(c.map_key)
        self._drop_entry(self.model.map, c.key, c.map_key)

    def _drop_entry(self, maps: dict[Any, dict[Any, Any]], slot: Any, map_key: Any) -> None:
        entries = maps.get(slot, {})
        entries.pop(map_key, None)
        if not entries:
            maps.pop(slot, None)

    def read_entry(self, c: Change) -> None:
        expected = self.model.map.get(c.key, {}).get(c.map_key)
        state = self.at(c.key).map
        assert state.get(c.map_key) == expected
        assert state.contains(c.map_key) == (expected is not None)

    def remove_while_iterating(self, c: Change) -> None:
        state = self.at(c.key).map
        seen = {}
        for map_key, value in state.items():
            seen[map_key] = value
            state.remove(map_key)
        assert seen == self.model.map.pop(c.key, {})
        assert state.is_empty()

    def remove_the_rest_while_iterating(self, c: Change) -> None:
        state = self.at(c.key).map
        for map_key, _ in state.items():
            for other in list(self.model.map[c.key]):
                if other != map_key:
                    state.remove(other)
                    self._drop_entry(self.model.map, c.key, other)
            state.put(map_key, c.value)
            self.model.map[c.key][map_key] = c.value
            break

    def clear_map(self, c: Change) -> None:
        self.at(c.key).map.clear()
        self.model.map.pop(c.key, None)

    def window_value(self, c: Change) -> None:
        state = self.at(c.key).windows
        state.namespace = c.namespace
        if c.flag:
            state.clear()
            self.model.windows.pop((c.key, c.namespace), None)
        else:
            state.update(c.value)
            self.model.windows[c.key, c.namespace] = c.value

    def window_list(self, c: Change) -> None:
        state = self.at(c.key).pieces
        state.namespace = c.namespace
        if c.flag and c.time < 3:
            state.clear()
            self.model.pieces.pop((c.key, c.namespace), None)
        else:
            state.add(c.value)
            self.model.pieces.setdefault((c.key, c.namespace), []).append(c.value)

    def window_map(self, c: Change) -> None:
        state = self.at(c.key).maps
        state.namespace = c.namespace
        if c.flag:
            state.remove(c.map_key)
            self._drop_entry(self.model.maps, (c.key, c.namespace), c.map_key)
        else:
            state.put(c.map_key, c.value)
            self.model.maps.setdefault((c.key, c.namespace), {})[c.map_key] = c.value

    def add_to_sum(self, c: Change) -> None:
        state = self.at(c.key).sums
        state.namespace = c.namespace
        state.add(c.time)
        self.model.sums[c.key, c.namespace] = self.model.sums.get((c.key, c.namespace), 0) + c.time

    def add_to_mean(self, c: Change) -> None:
        state, at = self.at(c.key).means, (c.key, c.namespace)
        state.namespace = c.namespace
        if c.flag and c.time < 2:
            state.clear()
            self.model.means.pop(at, None)
            assert state.get() is None
            return
        state.add(c.time)
        total, count = self.model.means.get(at, (0, 0))
        self.model.means[at] = total + c.time, count + 1
        assert state.get() == (total + c.time) / (count + 1)

    def merge_windows(self, c: Change) -> None:
        subtask, into = self.at(c.key), c.namespace
        sources = [5, into] if c.flag else [None, ("w", 1)]
        subtask.sums.merge_namespaces(into, sources)
        subtask.means.merge_namespaces(into, sources)
        subtask.pieces.merge_namespaces(into, sources)
        for source in sources:
            if source != into:
                moved = self.model.sums.pop((c.key, source), None)
                if moved is not None:
                    self.model.sums[c.key, into] = self.model.sums.get((c.key, into), 0) + moved
                mean = self.model.means.pop((c.key, source), None)
                if mean is not None:
                    total, count = self.model.means.get((c.key, into), (0, 0))
                    self.model.means[c.key, into] = total + mean[0], count + mean[1]
                elements = self.model.pieces.pop((c.key, source), [])
                if elements:
                    self.model.pieces.setdefault((c.key, into), []).extend(elements)

    # Records whose class changes, and state that expires

    def put_order(self, c: Change) -> None:
        amount, name = (c.time, "amount") if self.version == 0 else (float(c.time), "amount" if self.version == 1 else "total")
        fields = {"number": c.time, name: amount, **({"note": "n"} if self.version == 0 else {"city": "c" if c.flag else "?"})}
        self.at(c.key).orders.update(self.order(**fields))
        self.model.orders[c.key] = fields

    def clear_order(self, c: Change) -> None:
        self.at(c.key).orders.clear()
        self.model.orders.pop(c.key, None)

    def put_session(self, c: Change) -> None:
        self.at(c.key).sessions.update(c.value)
        self.model.sessions[c.key] = c.value, self.clock.now_ms() + TTL_MS

    def clear_session(self, c: Change) -> None:
        self.at(c.key).sessions.clear()
        self.model.sessions.pop(c.key, None)

    def pass_time(self, c: Change) -> None:
        if c.time < 3:
            self.clock.advance(c.time)

    # Timers and operator state

    def register_timer(self, c: Change) -> None:
        self.at(c.key).timers.register(c.time, c.key, c.namespace)
        self.model.timers.add((c.time, c.key, c.namespace))

    def delete_timer(self, c: Change) -> None:
        self.at(c.key).timers.delete(c.time, c.key, c.namespace)
        self.model.timers.discard((c.time, c.key, c.namespace))

    def add_operator_entry(self, c: Change) -> None:
        self.subtasks[c.time % len(self.subtasks)].entries.append(c.time)
        self.model.entries[c.time] += 1

    @rule(until=st.integers(0, 6), again=st.booleans())
    def fire_timers(self, until: int, again: bool) -> None:
        fired: list[tuple[int, Any, Any]] = []
        for subtask in self.subtasks:
            mine = []
            for timer in subtask.timers.pop_until(until):
                mine.append(timer)
                if again and len(mine) == 1:
                    # Timers that are registered while others fire are honoured in the same round.
                    subtask.timers.register(until, timer[1], "again")
            assert [timer[0] for timer in mine] == sorted(timer[0] for timer in mine)
            earliest = subtask.timers.next_timestamp()
            assert earliest is None or earliest > until
            fired += mine
        expected = {timer for timer in self.model.timers if timer[0] <= until}
        assert {timer for timer in fired if timer[2] != "again"} == expected
        assert len([timer for timer in fired if timer[2] != "again"]) == len(expected)
        self.model.timers -= expected

    # Snapshots

    def _take(self, full: bool = False) -> list[Any]:
        self.next_id += 1
        return [subtask.backend.snapshot(self.next_id, full=full) for subtask in self.subtasks]

    @rule()
    def checkpoint(self) -> None:
        tasks = self._take()
        self._retain(self.next_id, copy.deepcopy(self.model), tasks, savepoint=False)

    def _retain(self, checkpoint_id: int, model: Model, tasks: list[Any], savepoint: bool) -> None:
        self.retained.append(Retained(checkpoint_id, model, [task.run(self.files) for task in tasks], savepoint))
        self.retained.sort(key=lambda retained: retained.checkpoint_id)

    @rule(which=st.integers(0, 2))
    def failed_checkpoint(self, which: int) -> None:
        for index, task in enumerate(self._take()):
            self.files.failing = index == which % len(self.subtasks)
            try:
                task.run(self.files)
            except CheckpointStorageError:
                self.subtasks[index].backend.snapshot_failed(self.next_id)
            finally:
                self.files.failing = False

    @rule(full=st.booleans())
    def late_checkpoint(self, full: bool) -> None:
        tasks = self._take(full)
        self.late.append((self.next_id, copy.deepcopy(self.model), tasks, full))

    @precondition(lambda self: self.late)
    @rule(which=st.integers(0, 5))
    def write_late(self, which: int) -> None:
        checkpoint_id, model, tasks, full = self.late.pop(which % len(self.late))
        try:
            self._retain(checkpoint_id, model, tasks, savepoint=full)
        except SnapshotLostError:
            # The map of 32 kB had to grow before the snapshot was read; later ones must succeed nevertheless.
            assert any(isinstance(subtask.backend, lmdb_backend.LmdbBackend) for subtask in self.subtasks)

    @rule()
    def savepoint(self) -> None:
        tasks = self._take(full=True)
        self._retain(self.next_id, copy.deepcopy(self.model), tasks, savepoint=True)

    @precondition(lambda self: self.retained)
    @rule(
        which=st.integers(0, 9),
        kind=st.sampled_from(KINDS),
        parallelism=st.integers(1, 3),
        evolves=st.sampled_from([False, False, True]),
        claims=st.booleans(),
        seed=st.integers(0, 1 << 32),
    )
    def restore(self, which: int, kind: str, parallelism: int, evolves: bool, claims: bool, seed: int) -> None:
        """Go on from a snapshot: with another backend or parallelism, perhaps as a newer version of the program, perhaps without claim."""
        chosen = self.retained[which % len(self.retained)]
        for subtask in self.subtasks:
            subtask.backend.close()
        self.late = []
        self.model = copy.deepcopy(chosen.model)
        if evolves and self.version < VERSIONS - 1:
            self.version += 1
            forget_classes()
            self.order = order_class(self.version)
        self.model.orders = {key: evolved(order, self.version) for key, order in self.model.orders.items()}
        if not claims:
            self._start_without_claim(chosen, kind, parallelism, Random(seed))
            return
        self._start(kind, parallelism, chosen.handles, Random(seed))
        # As the store's sweep: nothing but what this snapshot names is left.
        self.retained = [chosen]
        self._sweep()
        self.compare_whole_tables()

    def _start_without_claim(self, chosen: Retained, kind: str, parallelism: int, random: Random) -> None:
        """The snapshot is somebody else's: after the first own checkpoint nothing of it may be needed."""
        alone = [dataclasses.replace(handle, meta={**handle.meta, "savepoint": True}) for handle in chosen.handles]
        self._start(kind, parallelism, alone, random)
        self.compare_whole_tables()
        self.retained = []
        self.checkpoint()
        self._sweep()

    def _sweep(self) -> None:
        for name in set(self.files.contents) - self._named():
            del self.files.contents[name]

    @precondition(lambda self: len(self.retained) > 1)
    @rule()
    def delete_savepoint(self) -> None:
        """A savepoint is the user's, who may delete it at any time (here: if there is another way back)."""
        which = next((i for i, retained in enumerate(self.retained) if retained.savepoint), None)
        if which is not None:
            self._discard([self.retained.pop(which)])

    @precondition(lambda self: len(self.retained) > 1 and not self.late)
    @rule()
    def discard_old(self) -> None:
        """Keep the last checkpoint only, and the files that it names."""
        last = max((i for i, retained in enumerate(self.retained) if not retained.savepoint), default=None)
        if last is not None:
            old, self.retained = self.retained[:last], self.retained[last:]
            self._discard(old)

    def _discard(self, old: list[Retained]) -> None:
        """As the store discards: the files that these name and no retained one."""
        names = {file.name for retained in old for handle in retained.handles for file in handle.files}
        for name in names - self._named():
            del self.files.contents[name]

    def _named(self) -> set[str]:
        return {file.name for retained in self.retained for handle in retained.handles for file in handle.files}

    # Comparison

    def _tables(self, name: str, kind: str) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for index, subtask in enumerate(self.subtasks):
            for key, namespace, value in subtask.backend.table(name, kind=kind).items():
                assert subtask_for_key_group(key_group(key, MAX_PARALLELISM), MAX_PARALLELISM, len(self.subtasks)) == index
                assert (key, namespace) not in found
                found[key, namespace] = value
        return found

    @rule()
    def compare_whole_tables(self) -> None:
        model = self.model
        assert self._tables("value", "value") == {(key, None): value for key, value in model.value.items()}
        assert self._tables("list", "list") == {(key, None): value for key, value in model.list.items()}
        assert self._tables("map", "map") == {(key, None): value for key, value in model.map.items()}
        assert self._tables("windows", "value") == model.windows
        assert self._tables("pieces", "list") == model.pieces
        assert self._tables("sums", "reducing") == model.sums
        assert self._tables("means", "aggregating") == model.means
        assert self._tables("maps", "map") == model.maps
        assert {slot: vars(order) for slot, order in self._tables("orders", "value").items()} == {
            (key, None): order for key, order in model.orders.items()
        }
        assert {timer for subtask in self.subtasks for timer in subtask.timers.items()} == model.timers
        assert sum(len(subtask.timers) for subtask in self.subtasks) == len(model.timers)

    @rule(keys=st.lists(st.sampled_from(KEYS), min_size=1, max_size=4))
    def compare_keys(self, keys: list[Any]) -> None:
        for key in keys:
            self._compare_key(key)

    def _compare_key(self, key: Any) -> None:
        subtask = self.at(key)
        assert subtask.value.value() == self.model.value.get(key)
        assert subtask.list.get() == self.model.list.get(key, [])
        assert dict(subtask.map.items()) == self.model.map.get(key, {})
        assert set(subtask.map.keys()) == set(self.model.map.get(key, {}))
        assert len(list(subtask.map.values())) == len(self.model.map.get(key, {}))
        assert subtask.map.is_empty() == (key not in self.model.map)
        order = subtask.orders.value()
        assert (order is None) == (key not in self.model.orders)
        assert order is None or (type(order) is self.order and vars(order) == self.model.orders[key])
        value, expires_ms = self.model.sessions.get(key, (None, 0))
        assert subtask.sessions.value() == (value if self.clock.now_ms() < expires_ms else None)

    @invariant()
    def operator_state_is_shared_out(self) -> None:
        assert sum((Counter(subtask.entries) for subtask in self.subtasks), Counter()) == self.model.entries


StateMachine.TestCase.settings = settings(
    max_examples=300, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True
)
TestStateModel = StateMachine.TestCase
