"""Snapshots: what they write, how chains stay short, what failures and corruption do."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.unit.state.backends import MAX_PARALLELISM, new_backend
from tests.unit.state.memory_files import MemoryFiles
from wiesel.core.errors import CheckpointStorageError, CorruptCheckpointError, SerializationError, StateMigrationError
from wiesel.state import changelog, stores, tracked
from wiesel.state.backend import StateFile, StateHandle
from wiesel.state.key_groups import key_group, key_group_range
from wiesel.types.row import Row, RowKind

KINDS = ["hashmap", "lmdb", "rocksdb"]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Any]:
    made = []

    def make(kind: str, **how: Any) -> Any:
        made.append(new_backend(kind, tmp_path, **how))
        return made[-1]

    yield make
    for backend in made:
        backend.close()


def contents(backend: Any, name: str = "v", kind: str = "value") -> dict[Any, Any]:
    return {(key, namespace): value for key, namespace, value in backend.table(name, kind=kind).items()}


def restored(opened: Any, kind: str, handle: StateHandle, files: MemoryFiles, **how: Any) -> Any:
    backend = opened(kind, **how)
    backend.restore([handle], files)
    return backend


def test_a_checkpoint_costs_what_has_changed(opened: Any, kind: str) -> None:
    files, backend = MemoryFiles(), opened(kind)
    values, lists, maps = backend.table("v"), backend.table("l", kind="list"), backend.table("m", kind="map")
    for i in range(20_000):
        values.put(f"key-{i}", i)
        lists.append("one", f"element-{i}")
        maps.put_entry("one", f"entry-{i}", i)
    backend.snapshot(1).run(files)
    first = files.written
    for i in range(20):
        values.put(f"key-{i}", -i)
        lists.append("one", "more")
        maps.put_entry("one", f"entry-{i}", -i)
    handle = backend.snapshot(2).run(files)
    # 60 of 60,000 entries have changed, three of them in containers with 20,000 elements.
    assert files.written - first < first / 200
    again = restored(opened, kind, handle, files)
    assert contents(again) == contents(backend)
    assert contents(again, "l", "list") == contents(backend, "l", "list")
    assert contents(again, "m", "map") == contents(backend, "m", "map")


def test_entries_set_together_are_as_those_set_one_by_one(opened: Any, kind: str) -> None:
    files, backend = MemoryFiles(), opened(kind)
    maps = backend.table("m", kind="map")
    maps.put_entry("one", "a", 1)
    maps.remove("two")
    maps.put_entries("one", {"b": 2, "c": None}, "spaced")
    maps.put_entries("two", {"a": 1})
    backend.snapshot(1).run(files)
    maps.put_entries("one", {"a": 3, "d": 4})
    maps.remove("two")
    maps.put_entries("two", {"z": 0})
    handle = backend.snapshot(2).run(files)
    expected = {("one", None): {"a": 3, "d": 4}, ("one", "spaced"): {"b": 2, "c": None}, ("two", None): {"z": 0}}
    assert contents(backend, "m", "map") == contents(restored(opened, kind, handle, files), "m", "map") == expected


def test_checkpoints_are_whole_if_asked_for(opened: Any, kind: str) -> None:
    files, backend = MemoryFiles(), opened(kind, **{"execution.checkpointing.incremental": "false"})
    for checkpoint in range(1, 4):
        backend.table("v").put(checkpoint, checkpoint)
        handle = backend.snapshot(checkpoint).run(files)
        assert len(handle.files) == 1
    assert contents(restored(opened, kind, handle, files)) == {(i, None): i for i in range(1, 4)}


def test_a_checkpoint_without_changes_writes_nothing(opened: Any, kind: str) -> None:
    files, backend = MemoryFiles(), opened(kind)
    backend.table("v").put("k", 1)
    first = backend.snapshot(1).run(files)
    written = files.written
    second = backend.snapshot(2).run(files)
    assert files.written == written
    assert second.files == first.files
    assert opened(kind).snapshot(1).run(files).files == ()


def test_chains_stay_short_and_cover_all_state(opened: Any, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracked, "_FLOOR_BYTES", 2_000)
    monkeypatch.setattr(tracked, "_SLICE_ENTRIES", 50)
    monkeypatch.setattr(stores, "_AT_ONCE_FACTOR", 0)
    monkeypatch.setattr(stores, "_AT_ONCE_ENTRIES", 0)
    files, backend, random = MemoryFiles(), opened(kind), Random(7)
    values, timers = backend.table("v"), backend.timers("event")
    sizes, counts = [], []
    for checkpoint in range(1, 150):
        for _ in range(100):
            key = random.randrange(500)
            if random.random() < 0.2:
                values.remove(key)
            else:
                values.put(key, f"{checkpoint}-{key}")
            timers.register(random.randrange(3), key)
        handle = backend.snapshot(checkpoint).run(files)
        sizes.append(sum(file.size for file in handle.files))
        counts.append(len(handle.files))
    whole = sum(file.size for file in backend.snapshot(1000, full=True).run(files).files)
    assert max(sizes) < 12 * whole
    # With RocksDB only the small changes of timers are in the chain, which ends at a number of files then.
    assert max(counts) < (tracked._MOST_FILES if kind == "rocksdb" else 120)
    again = restored(opened, kind, handle, files)
    assert contents(again) == contents(backend)
    assert set(again.timers("event").items()) == set(timers.items())


def test_a_failed_checkpoint_loses_nothing(opened: Any, kind: str) -> None:
    files, backend = MemoryFiles(), opened(kind)
    table = backend.table("v")
    table.put("before", 1)
    backend.snapshot(1).run(files)
    table.put("during", 2)
    table.remove("before")
    task = backend.snapshot(2)
    files.failing = True
    with pytest.raises(CheckpointStorageError):
        task.run(files)
    backend.snapshot_failed(2)
    files.failing = False
    table.put("after", 3)
    handle = backend.snapshot(3).run(files)
    assert contents(restored(opened, kind, handle, files)) == {("during", None): 2, ("after", None): 3}


def test_what_happens_after_the_synchronous_part_is_not_in_the_snapshot(opened: Any, kind: str) -> None:
    files, backend = MemoryFiles(), opened(kind)
    values, lists, maps = backend.table("v"), backend.table("l", kind="list"), backend.table("m", kind="map")
    value, element, entry = [1], {"a": 1}, [2]
    values.put("mutable", value)
    values.put("atom", 1)
    lists.append("mutable", element)
    lists.append("atoms", 1)
    maps.put_entry("mutable", "x", entry)
    maps.put_entry("atoms", "x", 1)
    backend.timers("event").register(1, "k")
    for full in (False, True):
        task = backend.snapshot(1, full=full)
        for mutable in (value, entry):
            mutable.append(99)
        element["b"] = 99
        values.put("atom", 99)
        values.put("new", 99)
        lists.append("atoms", 99)
        maps.put_entry("atoms", "x", 99)
        maps.put_entry("atoms", "y", 99)
        backend.timers("event").delete(1, "k")
        again = restored(opened, kind, task.run(files), files)
        assert contents(again) == {("mutable", None): [1], ("atom", None): 1}
        assert contents(again, "l", "list") == {("mutable", None): [{"a": 1}], ("atoms", None): [1]}
        assert contents(again, "m", "map") == {("mutable", None): {"x": [2]}, ("atoms", None): {"x": 1}}
        assert list(again.timers("event").items()) == [(1, "k", None)]
        # Back to the start for the savepoint.
        for mutable in (value, entry):
            mutable.pop()
        del element["b"]
        values.put("mutable", value)
        values.put("atom", 1)
        values.remove("new")
        lists.put("atoms", [1])
        lists.put("mutable", [element])
        maps.put("atoms", {"x": 1})
        maps.put("mutable", {"x": entry})
        backend.timers("event").register(1, "k")


def test_slices_that_are_written_late_hold_what_was_there(opened: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracked, "_FLOOR_BYTES", 0)
    files, backend = MemoryFiles(), opened("hashmap")
    lists, maps = backend.table("l", kind="list"), backend.table("m", kind="map")
    for i in range(10):
        lists.append(i, i)
        maps.put_entry(i, i, i)
    backend.snapshot(1).run(files)
    for _ in range(2):
        lists.append(0, "more")
        backend.snapshot(2).run(files)
    backend._must_rewrite = True
    task = backend.snapshot(3)
    for i in range(10):
        lists.append(i, "late")
        maps.put_entry(i, "late", i)
    again = restored(opened, "hashmap", task.run(files), files)
    assert len(task._files) == 1
    assert contents(again, "l", "list") == {(i, None): [i] + (["more"] * 2 if i == 0 else []) for i in range(10)}
    assert contents(again, "m", "map") == {(i, None): {i: i} for i in range(10)}


def test_checkpoints_do_not_depend_on_a_savepoint(opened: Any, kind: str) -> None:
    files, backend = MemoryFiles(), opened(kind)
    backend.table("v").put("a", 1)
    checkpoint = backend.snapshot(1).run(files)
    backend.table("v").put("b", 2)
    savepoint = backend.snapshot(2, full=True).run(files)
    backend.table("v").put("c", 3)
    later = backend.snapshot(3).run(files)
    assert not {file.name for file in savepoint.files} & {file.name for file in (*checkpoint.files, *later.files)}
    assert contents(restored(opened, kind, later, files)) == {("a", None): 1, ("b", None): 2, ("c", None): 3}
    after = restored(opened, kind, savepoint, files)
    after.table("v").put("d", 4)
    following = after.snapshot(4).run(files)
    for file in savepoint.files:
        del files.contents[file.name]
    assert contents(restored(opened, kind, following, files)) == {("a", None): 1, ("b", None): 2, ("d", None): 4}


def test_a_cleared_map_stays_cleared_over_a_checkpoint(opened: Any, kind: str) -> None:
    files, backend = MemoryFiles(), opened(kind)
    table = backend.table("m", kind="map")
    table.put_entry("k", "a", 1)
    backend.snapshot(1).run(files)
    if kind == "lmdb":
        table.void.age()
        assert table.get_entry("k", "other") is None
    table.remove("k")
    handle = backend.snapshot(2).run(files)
    assert table.get_entry("k", "a") is None
    table.put_entry("k", "b", 2)
    assert dict(table.entries("k")) == {"b": 2}
    assert contents(restored(opened, kind, handle, files), "m", "map") == {}


@pytest.mark.parametrize("target", KINDS)
def test_rescaling_moves_every_entry_to_its_owner(opened: Any, kind: str, target: str) -> None:
    files = MemoryFiles()
    expected: dict[Any, Any] = {}
    handles: list[StateHandle] = []
    for step, parallelism in enumerate([1, 2, 3, 5, 1]):
        backends = [opened(kind if step % 2 else target, subtask=i, parallelism=parallelism) for i in range(parallelism)]
        for i, backend in enumerate(backends):
            backend.restore(handles, files)
            owned = key_group_range(i, MAX_PARALLELISM, parallelism)
            mine = {slot: v for slot, v in expected.items() if owned.start <= key_group(slot[0], MAX_PARALLELISM) < owned.end}
            assert contents(backend) == mine
            assert {(t, k) for t, k, _ in backend.timers("event").items()} == {(value, key) for (key, _), value in mine.items()}
            for number in range(300):
                key = f"{step}-{number}"
                if owned.start <= key_group(key, MAX_PARALLELISM) < owned.end:
                    backend.table("v").put(key, number)
                    backend.timers("event").register(number, key)
                    expected[key, None] = number
            for key in [key for (key, _) in mine][::3]:
                backend.table("v").remove(key)
                backend.timers("event").delete(expected.pop((key, None)), key)
        handles = [backend.snapshot(step).run(files) for backend in backends]


def test_rescaling_rewrites_nothing(opened: Any, kind: str) -> None:
    files, backend = MemoryFiles(), opened(kind)
    for i in range(5_000):
        backend.table("v").put(i, f"value-{i}")
    handle = backend.snapshot(1).run(files)
    written = files.written
    halves = [restored(opened, kind, handle, files, subtask=i, parallelism=2) for i in range(2)]
    for half in halves:
        half.table("v").put(next(iter(contents(half)))[0], "changed")
        assert handle.files[0] in half.snapshot(2).run(files).files
    assert files.written - written < written / 20


def test_state_of_other_names_is_carried_along(opened: Any, kind: str) -> None:
    files, backend = MemoryFiles(), opened(kind)
    backend.table("kept", kind="list").append("k", 1)
    handle = backend.snapshot(1).run(files)
    for checkpoint in (2, 3):
        backend = restored(opened, kind, handle, files)
        backend.table("v").put("k", checkpoint)
        handle = backend.snapshot(checkpoint, full=True).run(files)
    assert contents(restored(opened, kind, handle, files), "kept", "list") == {("k", None): [1]}


def test_another_max_parallelism_is_refused(opened: Any, kind: str) -> None:
    files, backend = MemoryFiles(), opened(kind)
    backend.table("v").put("k", 1)
    handle = backend.snapshot(1).run(files)
    handle.meta["max_parallelism"] = 128
    with pytest.raises(StateMigrationError, match=r"set_max_parallelism\(128\)"):
        opened(kind).restore([handle], files)


@pytest.mark.parametrize("how", ["truncate", "flip", "missing", "foreign", "empty", "cut between sections"])
def test_damaged_files_are_noticed(opened: Any, kind: str, how: str) -> None:
    files, backend = MemoryFiles(), opened(kind)
    for i in range(1000):
        backend.table("v").put(i, i)
        backend.table("l", kind="list").append(i, i)
    handle = backend.snapshot(1).run(files)
    # RocksDB's files are opened, not read through: what is wrong with them has to be found before.
    files.checking = kind == "rocksdb"
    name, data = handle.files[0].name, files.contents[handle.files[0].name]
    random = Random(3)
    for _ in range(1 if how in ("missing", "foreign", "empty") else 60):
        if how == "missing":
            del files.contents[name]
        elif how == "cut between sections":
            files.contents[name] = data[: 10 + 20 + random.choice([0, len(data) - 50])]
        elif how == "truncate":
            files.contents[name] = data[: random.randrange(len(data))]
        elif how == "flip":
            at = random.randrange(len(data))
            files.contents[name] = data[:at] + bytes([data[at] ^ (1 << random.randrange(8))]) + data[at + 1 :]
        else:
            files.contents[name] = b"" if how == "empty" else b"something else altogether"
        # A flipped bit in the version number may also look like a file of a newer version.
        with pytest.raises((CorruptCheckpointError, StateMigrationError)) as raised:
            opened(kind).restore([handle], files)
        assert name in str(raised.value)


def test_files_of_a_newer_format_are_refused(opened: Any) -> None:
    with changelog.StateFileBuffer().whole() as contents:
        data = bytes(contents)
    assert list(changelog.read_file(data, "f")) == []
    newer = data[:8] + (changelog.FORMAT_VERSION + 1).to_bytes(2, "little") + data[10:]
    with pytest.raises(StateMigrationError, match=f"format {changelog.FORMAT_VERSION + 1}"):
        list(changelog.read_file(newer, "f"))


# Written once by version 1 of the format and never to be changed: what stored checkpoints look like.
OLD_FILE = bytes.fromhex(
    "57534c53544154450100020001000200000027000000000000000c139699768005951c000000000000005d94288c0161944b02654e5d94284b014b01"
    "8c01789486946587942e0201010001000000200000000000000068c6ecd47680059515000000000000005d8c0177615d4b05615d8c06737061636564"
    "61872e03000100010000002700000000000000126945d06c8005951c00000000000000285d948c016b94614e5d944b00615d945d94284b014b026561"
    "74942e04000100010000002900000000000000dfccc7586d8005951e00000000000000285d948c016b94614e5d945d948c01789461615d945d944b01"
    "616174942e050005000200000029000000000000007a68d5246576656e748005951e00000000000000285d284b074b08655d288c016b8c016b655d28"
    "4e4b05655d28888865742e00000000050000000000000000000000453c1874"
)


def test_files_written_long_ago_can_be_read(opened: Any, kind: str) -> None:
    files = MemoryFiles()
    files.contents["old"] = OLD_FILE
    meta = {
        "format": 1,
        "max_parallelism": MAX_PARALLELISM,
        "scopes": [[0, MAX_PARALLELISM, True]],
        "states": {name: {"kind": kind} for name, kind in {"v": "value", "l": "list", "m": "map"}.items()},
    }
    handle = StateHandle((StateFile("old", len(OLD_FILE), 0),), 0, MAX_PARALLELISM, meta)
    backend = restored(opened, kind, handle, files)
    assert contents(backend) == {("a", None): 1, (2, None): (1, "x"), ("w", 5): "spaced"}
    assert contents(backend, "l", "list") == {("k", None): [1, 2]}
    assert contents(backend, "m", "map") == {("k", None): {"x": 1}}
    assert set(backend.timers("event").items()) == {(7, "k", None), (8, "k", 5)}


def test_values_that_cannot_be_stored_are_named(opened: Any, kind: str) -> None:
    backend = opened(kind)
    backend.table("locks").put("k", (value for value in [1]))
    with pytest.raises(SerializationError, match="cannot be pickled"):
        backend.snapshot(1).run(MemoryFiles())


def test_rows_come_back_as_they_were(opened: Any, kind: str) -> None:
    files, backend = MemoryFiles(), opened(kind)
    rows = [Row(a=1, b="x"), Row(a=2, b=None), Row.of_kind(RowKind.DELETE, 1, 2), Row(b=1), Row()]
    for number, row in enumerate(rows):
        backend.table("v").put(number, row)
        backend.table("same").put(number, Row(a=number))
    again = restored(opened, kind, backend.snapshot(1).run(files), files)
    for number, row in enumerate(rows):
        assert again.table("v").get(number) == row
        assert repr(again.table("v").get(number)) == repr(row)
        assert again.table("same").get(number) == Row(a=number)
        assert again.table("same").get(number).get_row_kind() is RowKind.INSERT


def test_handles_are_plain_data(opened: Any, kind: str) -> None:
    backend = opened(kind)
    backend.table("v").put("k", 1)
    handle = backend.snapshot(1).run(MemoryFiles())
    assert pickle.loads(pickle.dumps(handle)) == handle
    assert (handle.key_group_start, handle.key_group_end) == (0, MAX_PARALLELISM)


def test_size_is_told(opened: Any, kind: str) -> None:
    backend = opened(kind)
    empty = backend.size_bytes()
    random = Random(1)
    for i in range(10_000):
        backend.table("v").put(i, random.randbytes(100))
    backend.snapshot(1)
    assert backend.size_bytes() - empty > 10_000 * 100
