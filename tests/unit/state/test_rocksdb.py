"""The rocksdb backend's own matters: files stored once, key groups that move as references, other backends, the missing library."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.unit.state.backends import MAX_PARALLELISM, new_backend
from tests.unit.state.memory_files import MemoryFiles
from wiesel.core.errors import CheckpointStorageError, ConfigurationError, ResourceError
from wiesel.state import rocksdb_env
from wiesel.state.key_groups import key_group, subtask_for_key_group
from wiesel.state.rocksdb_env import RocksDbEnvironment, RocksDbSettings

NATIVE = "native"
NO_CACHE = {"wiesel.state.rocksdb.cache-size": "1kb"}


def owned(keys: range, subtask: int, parallelism: int) -> list[int]:
    return [key for key in keys if subtask_for_key_group(key_group(key, MAX_PARALLELISM), MAX_PARALLELISM, parallelism) == subtask]


def tables_of(handle: Any) -> set[str]:
    names = handle.meta[NATIVE]["files"]
    return {file.name for name, file in zip(names, handle.files, strict=False) if name.endswith(".sst")}


def test_the_directory_and_the_links_are_removed(tmp_path: Path) -> None:
    backend = new_backend("rocksdb", tmp_path)
    backend.table("v").put("k", 1)
    task = backend.snapshot(1)
    directory = Path(backend._environment.path)
    assert list(directory.glob("chk-*"))
    task.run(MemoryFiles())
    assert not list(directory.glob("chk-*")), "what was stored needs no links"
    dropped = backend.snapshot(2)
    del dropped
    assert not list(directory.glob("chk-*")), "nor does what nobody will store"
    backend.close()
    assert not list(tmp_path.iterdir())


def test_without_keyed_state_there_is_no_database(tmp_path: Path) -> None:
    files, backend = MemoryFiles(), new_backend("rocksdb", tmp_path)
    backend.timers("event").register(5, "k")
    handle = backend.snapshot(1).run(files)
    assert not backend._environment.is_open
    assert handle.meta[NATIVE]["files"] == []
    assert backend.size_bytes() < 1000
    again = new_backend("rocksdb", tmp_path)
    again.restore([handle], files)
    assert list(again.timers("event").items()) == [(5, "k", None)]
    assert again.snapshot(2, full=True).run(files).files
    backend.close()
    again.close()


def test_files_are_stored_once(tmp_path: Path) -> None:
    files, backend = MemoryFiles(), new_backend("rocksdb", tmp_path)
    table, random = backend.table("v"), Random(3)
    for key in range(20_000):
        table.put(key, random.randbytes(40))
    first = backend.snapshot(1).run(files)
    whole = files.written
    assert whole > 20_000 * 40
    table.put(7, b"changed")
    second = backend.snapshot(2).run(files)
    assert files.written - whole < whole / 100, "one entry has changed"
    assert tables_of(first) < tables_of(second), "the file of the first checkpoint is named by the second"
    again = new_backend("rocksdb", tmp_path)
    again.restore([second], files)
    restored = files.written
    third = again.snapshot(3).run(files)
    assert files.written - restored < whole / 100, "restored files are not stored again"
    assert tables_of(third) == tables_of(second)
    assert again.table("v").get(7) == b"changed"
    backend.close()
    again.close()


def test_checkpoints_do_not_depend_on_a_savepoint(tmp_path: Path) -> None:
    files, backend = MemoryFiles(), new_backend("rocksdb", tmp_path)
    backend.table("v").put("k", 1)
    # Where a job goes on from a checkpoint that it must not claim, that is marked like a savepoint.
    foreign = backend.snapshot(1).run(files)
    foreign.meta["savepoint"] = True
    again = new_backend("rocksdb", tmp_path)
    again.restore([foreign], files)
    handle = again.snapshot(2).run(files)
    assert not {file.name for file in handle.files} & {file.name for file in foreign.files}
    backend.close()
    again.close()


def test_what_could_not_be_stored_is_stored_with_the_next(tmp_path: Path) -> None:
    files, backend = MemoryFiles(), new_backend("rocksdb", tmp_path)
    backend.table("v").put("k", 1)
    task = backend.snapshot(1)
    files.failing = True
    with pytest.raises(CheckpointStorageError):
        task.run(files)
    files.failing = False
    backend.snapshot_failed(1)
    late = backend.snapshot(2)
    backend.table("v").put("k", 2)
    after = backend.snapshot(3).run(files)
    before = late.run(files)
    for handle, expected in ((after, 2), (before, 1)):
        again = new_backend("rocksdb", tmp_path)
        again.restore([handle], files)
        assert again.table("v").get("k") == expected
        again.close()
    backend.close()


def test_lists_keep_their_order_after_a_restore(tmp_path: Path) -> None:
    files, backend = MemoryFiles(), new_backend("rocksdb", tmp_path)
    for i in range(5):
        backend.table("l", kind="list").append("k", i)
        backend.flush()
    again = new_backend("rocksdb", tmp_path)
    again.restore([backend.snapshot(1).run(files)], files)
    again.table("l", kind="list").append("k", 5)
    third = new_backend("rocksdb", tmp_path)
    third.restore([again.snapshot(2).run(files)], files)
    assert third.table("l", kind="list").get("k") == [0, 1, 2, 3, 4, 5]
    for made in (backend, again, third):
        made.close()


@pytest.mark.parametrize("busy", [0, 1])
def test_lists_keep_their_order_after_two_subtasks_became_one(tmp_path: Path, busy: int) -> None:
    files, handles, keys = MemoryFiles(), [], [owned(range(100), subtask, 2)[0] for subtask in range(2)]
    wanted = {key: list(range(9 if subtask == busy else 1)) for subtask, key in enumerate(keys)}
    for subtask, (key, elements) in enumerate(wanted.items()):
        backend = new_backend("rocksdb", tmp_path, subtask=subtask, parallelism=2)
        for element in elements:
            backend.table("l", kind="list").append(key, element)
            backend.flush()
        handles.append(backend.snapshot(1).run(files))
        backend.close()
    one, again = (new_backend("rocksdb", tmp_path, **NO_CACHE) for _ in range(2))
    one.restore(handles, files)
    for key in keys:
        one.table("l", kind="list").append(key, "new")
    again.restore([one.snapshot(2).run(files)], files)
    assert {key: value for key, _, value in again.table("l", kind="list").items()} == {k: [*v, "new"] for k, v in wanted.items()}
    one.close()
    again.close()


def test_rescaling_refers_to_files(tmp_path: Path) -> None:
    """Out: both new subtasks name the files of the old one. In: one of the old ones is gone on with, the other copied from."""
    files, keys = MemoryFiles(), range(4000)
    whole = new_backend("rocksdb", tmp_path)
    for key in keys:
        whole.table("v").put(key, f"value {key}" * 10)
        whole.table("l", kind="list").append(key, key, ("w", key % 3))
    handle = whole.snapshot(1).run(files)
    halves, written = [], files.written
    for subtask in range(2):
        half = new_backend("rocksdb", tmp_path, subtask=subtask, parallelism=2)
        half.restore([handle], files)
        # The states are asked for in another order than they have in the database.
        assert {key for key, _, _ in half.table("l", kind="list").items()} == set(owned(keys, subtask, 2))
        assert [key for key, _, _ in half.table("v").items()] == [key for key, _, _ in whole.table("v").items() if half.table("v").get(key)]
        half.table("v").put(owned(keys, subtask, 2)[0], "changed")
        halves.append(half.snapshot(2).run(files))
        assert tables_of(handle) <= tables_of(halves[-1])
        half.close()
    assert files.written - written < written / 10, "key groups move as references"
    one = new_backend("rocksdb", tmp_path)
    one.restore(halves, files)
    found = {key: value for key, _, value in one.table("v").items()}
    assert sorted(found) == list(keys)
    assert [key for key, value in found.items() if value == "changed"] == [owned(keys, 0, 2)[0], owned(keys, 1, 2)[0]]
    assert {(key, namespace[1], value[0]) for key, namespace, value in one.table("l", kind="list").items()} == {(k, k % 3, k) for k in keys}
    one.close()
    whole.close()


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_subtasks_that_numbered_their_states_differently(tmp_path: Path, order: tuple[str, str]) -> None:
    files, handles, keys = MemoryFiles(), [], range(100)
    for subtask, names in enumerate((("a", "b"), order)):
        backend = new_backend("rocksdb", tmp_path, subtask=subtask, parallelism=2)
        for name in names:
            for key in owned(keys, subtask, 2):
                backend.table(name).put(key, f"{name}{key}")
        handles.append(backend.snapshot(1).run(files))
        backend.close()
    one = new_backend("rocksdb", tmp_path, **NO_CACHE)
    one.restore(handles, files)
    for name in "ab":
        assert {key: value for key, _, value in one.table(name).items()} == {key: f"{name}{key}" for key in keys}
    one.close()


@pytest.mark.parametrize("kind", ["hashmap", "lmdb"])
@pytest.mark.parametrize("full", [False, True])
def test_other_backends_read_what_this_one_wrote_and_the_reverse(tmp_path: Path, kind: str, full: bool) -> None:
    files, backend = MemoryFiles(), new_backend("rocksdb", tmp_path, **NO_CACHE)
    keys = range(3000)
    for key in keys:
        backend.table("v").put(key, key)
        backend.table("m", kind="map").put_entry(key % 10, key, str(key), "w")
        backend.table("l", kind="list").append(key % 7, key)
        backend.flush() if key % 500 == 0 else None
    backend.timers("event").register(5, "k")
    handle = backend.snapshot(1, full=full).run(files)
    assert (NATIVE in handle.meta) is not full, "savepoints are in the format of all backends"
    for first, second in ((kind, "rocksdb"), ("rocksdb", kind)):
        for made in (first, second):
            other = new_backend(made, tmp_path)
            other.restore([handle], files)
            assert {key: value for key, _, value in other.table("v").items()} == {key: key for key in keys}
            assert other.table("m", kind="map").get(3, "w") == {key: str(key) for key in keys if key % 10 == 3}
            assert other.table("l", kind="list").get(2) == [key for key in keys if key % 7 == 2]
            assert list(other.timers("event").items()) == [(5, "k", None)]
            handle = other.snapshot(2).run(files)
            other.close()
    backend.close()


def test_a_savepoint_has_what_was_there_when_it_was_taken(tmp_path: Path) -> None:
    files, backend = MemoryFiles(), new_backend("rocksdb", tmp_path)
    for key in range(5000):
        backend.table("v").put(key, "before")
    task = backend.snapshot(1, full=True)
    for key in range(6000):
        backend.table("v").put(key, "after") if key % 2 else backend.table("v").remove(key)
    backend.snapshot(2).run(files)
    files.failing = True
    with pytest.raises(CheckpointStorageError):
        task.run(files)
    files.failing = False
    handles: list[Any] = []
    backend.close()
    thread = threading.Thread(target=lambda: handles.append(task.run(files)))
    thread.start()
    thread.join()
    again = new_backend("rocksdb", tmp_path)
    again.restore(handles, files)
    assert {key: value for key, _, value in again.table("v").items()} == dict.fromkeys(range(5000), "before")
    again.close()


def test_without_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, backend = MemoryFiles(), new_backend("rocksdb", tmp_path)
    backend.table("v").put("k", 1)
    checkpoint, savepoint = backend.snapshot(1).run(files), backend.snapshot(2, full=True).run(files)
    backend.close()
    monkeypatch.setitem(sys.modules, "rocksdict", None)
    with pytest.raises(ConfigurationError, match=r"wiesel\[rocksdb\]"):
        new_backend("rocksdb", tmp_path)
    other = new_backend("hashmap", tmp_path)
    with pytest.raises(ConfigurationError, match=r"wiesel\[rocksdb\]"):
        other.restore([checkpoint], files)
    other.restore([savepoint], files)
    assert other.table("v").get("k") == 1, "a savepoint needs it no more"


def test_entries_are_removed_by_key_and_by_prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rocksdb_env, "_CHUNK_ENTRIES", 3)
    environment = RocksDbEnvironment(str(tmp_path), "x", RocksDbSettings())
    environment.open()
    expected = {b"%03d" % i: b"%d" % i for i in range(200)}
    environment.write([], [], list(expected.items()))
    before = environment.snapshot()
    environment.write([b"000", b"missing"], [b"01", b"1", b"missing"], [(b"015", b"new"), (b"2", b"b")])
    after = {key: value for key, value in expected.items() if key != b"000" and key[:2] != b"01" and key[:1] != b"1"}
    after |= {b"015": b"new", b"2": b"b"}
    for source, contents in ((before, expected), (environment.live(), after), (environment.snapshot(), after)):
        assert [entry for chunk in source.chunks() for entry in chunk] == sorted(contents.items())
        inner = [entry for chunk in source.chunks(b"007", b"02") for entry in chunk]
        assert inner == [entry for entry in sorted(contents.items()) if b"007" <= entry[0] < b"02"]
    assert environment.first_key(b"3") is None
    assert environment.first_key(b"016") == b"020"
    environment.close()


def test_a_disk_that_fails_is_named(tmp_path: Path) -> None:
    environment = RocksDbEnvironment(str(tmp_path), "x", RocksDbSettings())
    with pytest.raises(ResourceError, match="cannot open state") as refused:
        environment.open({"CURRENT": [b"MANIFEST-000001\n"]})
    assert "free space" in str(refused.value.hint)
    environment.close()
