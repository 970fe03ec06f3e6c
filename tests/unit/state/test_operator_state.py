"""Operator state when the parallelism changes: split lists, union lists, broadcast maps."""

from __future__ import annotations

import random
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from tests.unit.state.backends import MAX_PARALLELISM, new_backend
from tests.unit.state.memory_files import MemoryFiles
from wiesel.core.durations import Duration
from wiesel.core.errors import CorruptCheckpointError, StateAccessError, StateMigrationError
from wiesel.spi.state import ListStateDescriptor, MapStateDescriptor, StateTtlConfig, ValueStateDescriptor
from wiesel.state.backend import StateFile
from wiesel.state.key_groups import key_group, key_group_range
from wiesel.state.operator_handles import make_broadcast_state, make_operator_list_state
from wiesel.state.operator_state import handles_for
from wiesel.types import Types


def taken(directory: Path, files: MemoryFiles, contents: list[list[int]], kind: str = "hashmap") -> list[Any]:
    handles = []
    for subtask, entries in enumerate(contents):
        backend = new_backend(kind, directory, subtask=subtask, parallelism=len(contents))
        backend.operator_state.get_list("split").extend(entries)
        backend.operator_state.get_union_list("union").extend(entries)
        backend.operator_state.get_broadcast("rules").update({"n": 1, "from": subtask})
        handles.append(backend.snapshot(1).run(files))
        backend.close()
    return handles


def restored(directory: Path, files: MemoryFiles, handles: list[Any], parallelism: int, kind: str = "hashmap") -> list[Any]:
    backends = [new_backend(kind, directory, subtask=subtask, parallelism=parallelism) for subtask in range(parallelism)]
    for backend in backends:
        backend.restore(handles, files)
    return backends


@pytest.mark.parametrize("kind", ["hashmap", "lmdb", "rocksdb"])
def test_same_parallelism_keeps_lists_where_they_are(tmp_path: Path, kind: str) -> None:
    files = MemoryFiles()
    backends = restored(tmp_path, files, taken(tmp_path, files, [[1, 2, 3], [], [4]], kind), 3, kind)
    assert [backend.operator_state.get_list("split") for backend in backends] == [[1, 2, 3], [], [4]]
    assert [backend.operator_state.get_union_list("union") for backend in backends] == [[1, 2, 3, 4]] * 3
    assert [backend.operator_state.get_broadcast("rules")["from"] for backend in backends] == [0, 1, 2]
    for backend in backends:
        backend.close()


@pytest.mark.parametrize(
    ("parallelism", "expected"),
    [(1, [[1, 2, 3, 4, 5]]), (2, [[1, 2, 3], [4, 5]]), (4, [[1, 2], [3], [4], [5]]), (6, [[1], [2], [3], [4], [5], []])],
)
def test_rescaling_shares_split_lists_out_evenly(tmp_path: Path, parallelism: int, expected: list[list[int]]) -> None:
    files = MemoryFiles()
    backends = restored(tmp_path, files, taken(tmp_path, files, [[1, 2, 3], [4], [5]]), parallelism)
    assert [backend.operator_state.get_list("split") for backend in backends] == expected
    assert all(backend.operator_state.get_union_list("union") == [1, 2, 3, 4, 5] for backend in backends)
    # Flink's rule: subtask i takes the copy of old subtask i mod old parallelism.
    assert [backend.operator_state.get_broadcast("rules")["from"] for backend in backends] == [i % 3 for i in range(parallelism)]


TEN = [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]


def test_r3_ten_entries_on_two_subtasks_become_four_three_and_three(tmp_path: Path) -> None:
    files = MemoryFiles()
    lists = [backend.operator_state.get_list("split") for backend in restored(tmp_path, files, taken(tmp_path, files, TEN), 3)]
    assert lists == [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9]]


def test_r4_every_subtask_is_given_all_ten_entries(tmp_path: Path) -> None:
    files = MemoryFiles()
    lists = [backend.operator_state.get_union_list("union") for backend in restored(tmp_path, files, taken(tmp_path, files, TEN), 3)]
    assert lists == [list(range(10))] * 3


def test_r5_broadcast_state_is_copied_and_surplus_copies_go(tmp_path: Path) -> None:
    for old, new in ((2, 4), (4, 1)):
        files = MemoryFiles()
        backends = [new_backend("hashmap", tmp_path, subtask=i, parallelism=old) for i in range(old)]
        for backend in backends:
            backend.operator_state.get_broadcast("rules").update({"a": 1, "b": [2]})
        handles = [backend.snapshot(1).run(files) for backend in backends]
        copies = [backend.operator_state.get_broadcast("rules") for backend in restored(tmp_path, files, handles, new)]
        assert copies == [{"a": 1, "b": [2]}] * new


def test_changes_after_the_snapshot_are_not_in_it(tmp_path: Path) -> None:
    files = MemoryFiles()
    backend = new_backend("hashmap", tmp_path)
    entries = backend.operator_state.get_list("split")
    entries.append([1])
    task = backend.snapshot(1)
    entries[0].append(2)
    entries.append(3)
    (again,) = restored(tmp_path, files, [task.run(files)], 1)
    assert again.operator_state.get_list("split") == [[1]]


def test_one_name_cannot_be_two_kinds(tmp_path: Path) -> None:
    backend = new_backend("hashmap", tmp_path)
    backend.operator_state.get_list("x")
    with pytest.raises(StateMigrationError, match=r"'x' is list state, it is asked for as union list state"):
        backend.operator_state.get_union_list("x")


class CountedFiles(MemoryFiles):
    """Remembers which files were read."""

    def __init__(self, files: MemoryFiles) -> None:
        super().__init__()
        self.files = files
        self.names: list[str] = []

    def read(self, file: StateFile) -> bytes:
        self.names.append(file.name)
        return self.files.read(file)


def test_longer_runs_go_to_other_subtasks_for_each_name(tmp_path: Path) -> None:
    # Flink's round robin: three lists of one entry more than there are subtasks make no subtask hold three more than another.
    files = MemoryFiles()
    backend = new_backend("hashmap", tmp_path)
    for name in ("a", "b", "c"):
        backend.operator_state.get_list(name).extend(range(4))
    backends = restored(tmp_path, files, [backend.snapshot(1).run(files)], 3)
    lists = [[new.operator_state.get_list(name) for name in ("a", "b", "c")] for new in backends]
    assert [sum(map(len, three)) for three in lists] == [4, 4, 4]
    for index in range(3):
        assert sorted(chain.from_iterable(three[index] for three in lists)) == [0, 1, 2, 3]


def random_old(directory: Path, files: MemoryFiles, rng: random.Random, old: int) -> tuple[list[Any], list[dict[str, Any]]]:
    """Snapshots of subtasks with random lists and keyed state, and what is in them. Not every subtask has every state."""
    handles, contents = [], []
    for subtask in range(old):
        backend = new_backend(rng.choice(["hashmap", "lmdb", "rocksdb"]), directory, subtask=subtask, parallelism=old)
        content: dict[str, Any] = {"split": {}, "union": {}, "broadcast": {}, "keys": set()}
        for name in ("s1", "s2"):
            if rng.random() < 0.8:
                content["split"][name] = [f"{name}-{subtask}-{i}" for i in range(rng.randrange(6))]
                backend.operator_state.get_list(name).extend(content["split"][name])
        if rng.random() < 0.7:
            content["union"]["u"] = [f"u-{subtask}-{i}" for i in range(rng.randrange(4))]
            backend.operator_state.get_union_list("u").extend(content["union"]["u"])
        if rng.random() < 0.7:
            content["broadcast"]["b"] = {"from": subtask}
            backend.operator_state.get_broadcast("b")["from"] = subtask
        groups = key_group_range(subtask, MAX_PARALLELISM, old)
        content["keys"] = {key for key in range(40) if groups.start <= key_group(key, MAX_PARALLELISM) < groups.end}
        for key in content["keys"]:
            backend.table("keyed").put(key, key)
        handles.append(backend.snapshot(1).run(files))
        contents.append(content)
        backend.close()
    return handles, contents


@pytest.mark.parametrize("seed", range(40))
def test_any_old_and_new_parallelism(tmp_path: Path, seed: int) -> None:
    print(f"seed {seed}")
    rng = random.Random(seed)
    old, new = rng.randrange(1, 6), rng.randrange(1, 6)
    if rng.random() < 0.2:
        new = old
    files = MemoryFiles()
    handles, contents = random_old(tmp_path, files, rng, old)
    whole = restored(tmp_path, files, handles, new)
    for backends in (whole, given_only_what_they_need(tmp_path, files, handles, new)):
        for name in ("s1", "s2"):
            lists = [backend.operator_state.get_list(name) for backend in backends]
            before = [content["split"].get(name, []) for content in contents]
            if new == old:
                assert lists == before
            else:
                # Runs of the entries of all, in order of the subtasks; which subtasks have one more depends on the other lists.
                flat = sorted(chain.from_iterable(lists))
                assert flat == sorted(chain.from_iterable(before))
                assert max(map(len, lists)) - min(map(len, lists)) <= 1
        union = [entry for content in contents for entry in content["union"].get("u", [])]
        assert all(backend.operator_state.get_union_list("u") == union for backend in backends)
        holders = [subtask for subtask, content in enumerate(contents) if content["broadcast"]]
        for subtask, backend in enumerate(backends):
            copy = backend.operator_state.get_broadcast("b")
            if holders:
                assert copy["from"] == (subtask if subtask in holders else holders[subtask % len(holders)])
            else:
                assert copy == {}
            groups = key_group_range(subtask, MAX_PARALLELISM, new)
            mine = {key for key in range(40) if groups.start <= key_group(key, MAX_PARALLELISM) < groups.end}
            assert {key for key, _, _ in backend.table("keyed").items()} == mine
            backend.close()


def given_only_what_they_need(directory: Path, files: MemoryFiles, handles: list[Any], new: int) -> list[Any]:
    backends = []
    for subtask in range(new):
        backend = new_backend("hashmap", directory, subtask=subtask, parallelism=new)
        needed = handles_for(handles, subtask, new, key_group_range(subtask, MAX_PARALLELISM, new))
        counted = CountedFiles(files)
        backend.restore(needed, counted)
        # Each file that is named is of use.
        assert sorted(counted.names) == sorted(file.name for handle in needed for file in handle.files)
        backends.append(backend)
    return backends


def test_a_restart_needs_no_handles_of_others_unless_there_are_union_lists(tmp_path: Path) -> None:
    files = MemoryFiles()
    backends = [new_backend("hashmap", tmp_path, subtask=i, parallelism=3) for i in range(3)]
    for i, backend in enumerate(backends):
        backend.operator_state.get_list("split").append(i)
        backend.operator_state.get_broadcast("rules")["n"] = 1
    handles = [backend.snapshot(1).run(files) for backend in backends]
    groups = key_group_range(1, MAX_PARALLELISM, 3)
    assert handles_for(handles, 1, 3, groups) == (handles[1],)
    for backend in backends:
        backend.operator_state.get_union_list("union").append(1)
    handles = [backend.snapshot(2).run(files) for backend in backends]
    assert [len(handle.files) for handle in handles_for(handles, 1, 3, groups)] == [1, 1, 1]


def test_a_broadcast_map_is_read_from_one_file_only(tmp_path: Path) -> None:
    files = MemoryFiles()
    backends = [new_backend("hashmap", tmp_path, subtask=i, parallelism=4) for i in range(4)]
    for backend in backends:
        backend.operator_state.get_broadcast("rules")["n"] = 1
    handles = [backend.snapshot(1).run(files) for backend in backends]
    for new in (1, 2, 3, 7):
        for subtask in range(new):
            needed = handles_for(handles, subtask, new, key_group_range(subtask, MAX_PARALLELISM, new))
            assert sum(len(handle.files) for handle in needed) == 1


def test_a_lost_file_is_an_error_for_those_who_need_it(tmp_path: Path) -> None:
    files = MemoryFiles()
    handles = taken(tmp_path, files, [[1], [2]])
    files.contents.clear()
    with pytest.raises(CorruptCheckpointError, match="missing"):
        restored(tmp_path, files, handles, 3)


def again_as(directory: Path, before: Any, after: Any, fill: Any) -> Any:
    """Fill state by one descriptor, restore it, and return what another one finds."""
    files = MemoryFiles()
    backend = new_backend("hashmap", directory)
    fill(make(before, backend))
    (new,) = restored(directory, files, [backend.snapshot(1).run(files)], 1)
    return make(after, new)


def make(descriptor: Any, backend: Any) -> Any:
    store = backend.operator_state
    return make_broadcast_state(descriptor, store) if descriptor.kind == "map" else make_operator_list_state(descriptor, store)


def test_restored_values_become_those_of_the_declared_type(tmp_path: Path) -> None:
    old, new = ListStateDescriptor("n", Types.INT()), ListStateDescriptor("n", Types.BIG_DEC())
    found = again_as(tmp_path, old, new, lambda state: state.update([1, 2])).get()
    assert found == [1, 2]
    assert all(type(value) is Decimal for value in found)
    old, new = MapStateDescriptor("r", Types.STRING(), Types.INT()), MapStateDescriptor("r", Types.STRING(), Types.BIG_DEC())
    values = dict(again_as(tmp_path, old, new, lambda state: state.put("a", 1)).items())
    assert values == {"a": 1}
    assert type(values["a"]) is Decimal


def test_restored_values_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    old, new = ListStateDescriptor("n", Types.STRING()), ListStateDescriptor("n", Types.INT())
    with pytest.raises(StateMigrationError, match="state 'n' was written with type"):
        again_as(tmp_path, old, new, lambda state: state.add("x"))


def test_types_outlive_a_run_that_does_not_ask_for_the_state(tmp_path: Path) -> None:
    files = MemoryFiles()
    backend = new_backend("hashmap", tmp_path)
    make(ListStateDescriptor("n", Types.STRING()), backend).add("x")
    (between,) = restored(tmp_path, files, [backend.snapshot(1).run(files)], 1)
    (last,) = restored(tmp_path, files, [between.snapshot(2).run(files)], 1)
    with pytest.raises(StateMigrationError, match="state 'n' was written with type"):
        make(ListStateDescriptor("n", Types.INT()), last)
    assert make(ListStateDescriptor("n", Types.STRING()), last).get() == ["x"]


def test_list_handles(tmp_path: Path) -> None:
    backend = new_backend("hashmap", tmp_path)
    state, same = (make(ListStateDescriptor("n"), backend) for _ in range(2))
    assert state.get() == []
    state.add(1)
    state.add_all(iter([2, 3]))
    assert same.get() == [1, 2, 3] == list(state)
    state.get().append(4)
    assert same.get() == [1, 2, 3]
    state.update(state.get()[1:])
    assert same.get() == [2, 3]
    state.update(value for value in state)
    assert same.get() == [2, 3]
    same.clear()
    assert state.get() == []


def test_names_of_what_there_is(tmp_path: Path) -> None:
    files = MemoryFiles()
    handles = taken(tmp_path, files, [[1, 2], [3]])
    for backend in restored(tmp_path, files, handles, 4):
        # Also of lists of which a subtask got no entry.
        assert backend.operator_state.list_names() == {"split", "union"}
        assert backend.operator_state.broadcast_names() == {"rules"}


def test_a_descriptor_of_another_kind_is_refused(tmp_path: Path) -> None:
    store = new_backend("hashmap", tmp_path).operator_state
    with pytest.raises(StateAccessError, match="asked for with a ListStateDescriptor, got ValueStateDescriptor"):
        make_operator_list_state(ValueStateDescriptor("x"), store)
    with pytest.raises(StateAccessError, match="asked for with a MapStateDescriptor, got 'rules'"):
        make_broadcast_state("rules", store)


def test_a_time_to_live_is_said_to_have_no_effect(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    descriptor = ListStateDescriptor("x")
    descriptor.enable_time_to_live(StateTtlConfig.new_builder(Duration.of_seconds(1)).build())
    make(descriptor, new_backend("hashmap", tmp_path))
    assert "only keyed state expires" in caplog.text
