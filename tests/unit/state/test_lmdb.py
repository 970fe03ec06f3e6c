"""The disk backend's own matters: memory, growth, isolation of snapshots, cleaning up."""

from __future__ import annotations

import gc
import os
import threading
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.unit.state.backends import new_backend
from tests.unit.state.memory_files import MemoryFiles
from wiesel.core.errors import ConfigurationError
from wiesel.state import lmdb_env
from wiesel.state.factory import make_backend
from wiesel.state.hashmap import HashMapBackend
from wiesel.state.key_groups import key_group
from wiesel.state.lmdb import LmdbBackend
from wiesel.state.lmdb_env import LmdbEnvironment
from wiesel.state.lmdb_keys import SlotCodec, decode_slot
from wiesel.state.snapshots import SnapshotLostError


def test_the_directory_is_removed(tmp_path: Path) -> None:
    backend = new_backend("lmdb", tmp_path / "not there yet")
    backend.table("v").put("k", 1)
    backend.snapshot(1)
    assert list((tmp_path / "not there yet").iterdir())
    backend.close()
    assert not list((tmp_path / "not there yet").iterdir())


def test_snapshots_do_not_see_later_writes(tmp_path: Path) -> None:
    environment = LmdbEnvironment(str(tmp_path), "x", 64 << 20, 1 << 30)
    expected = [(b"%05d" % i, b"first" * 20) for i in range(3000)]
    environment.write([], [], list(expected))
    snapshot = environment.snapshot()
    random = Random(1)
    # Every page is written again several times: without LMDB's table of readers those of the snapshot would be reused.
    for round_number in range(10):
        environment.write([], [], [(b"%05d" % random.randrange(6000), b"round %d" % round_number * 15) for _ in range(3000)])
        environment.write([b"%05d" % random.randrange(6000) for _ in range(500)], [], [])
    assert [entry for chunk in snapshot.chunks() for entry in chunk] == expected
    del snapshot
    environment.close()


def test_the_map_grows_and_ends_snapshots_only_then(tmp_path: Path) -> None:
    environment = LmdbEnvironment(str(tmp_path), "x", 1 << 20, 1 << 30)
    for i in range(20):
        environment.write([], [], [(b"%d-%d" % (i, j), b"v" * 100) for j in range(2000)])
    assert environment.map_bytes > 4 << 20
    snapshot = environment.snapshot()
    assert environment.map_bytes >= 4 * environment.size_bytes(), "room for what is written while the snapshot is read"
    environment.write([], [], [(b"x", b"y")])
    assert sum(len(chunk) for chunk in snapshot.chunks()) == 40_000
    environment.grow(environment.map_bytes + 1)
    with pytest.raises(SnapshotLostError, match="map-size"):
        list(snapshot.chunks())
    assert environment.get(b"x") == b"y"
    environment.close()


def test_a_snapshot_that_was_lost_is_made_up_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, backend = MemoryFiles(), new_backend("lmdb", tmp_path)
    backend.table("v").put("a", 1)
    savepoint = backend.snapshot(1, full=True).run(files)
    after = new_backend("lmdb", tmp_path)
    after.restore([savepoint], files)
    lost = after.snapshot(2)
    after.table("v").put("b", 2)
    after._environment.grow(after._environment.map_bytes + 1)
    with pytest.raises(SnapshotLostError):
        lost.run(files)
    after.snapshot_failed(2)
    handle = after.snapshot(3).run(files)
    assert not {file.name for file in savepoint.files} & {file.name for file in handle.files}
    again = new_backend("lmdb", tmp_path)
    again.restore([handle], files)
    assert {key: value for key, _, value in again.table("v").items()} == {"a": 1, "b": 2}
    for made in (backend, after, again):
        made.close()


def test_a_full_snapshot_is_read_while_processing_goes_on(tmp_path: Path) -> None:
    files, backend = MemoryFiles(), new_backend("lmdb", tmp_path)
    table = backend.table("v")
    for i in range(30_000):
        table.put(i, i)
    handles: list[Any] = []
    task = backend.snapshot(1, full=True)
    writer = threading.Thread(target=lambda: handles.append(task.run(files)))
    writer.start()
    for i in range(30_000):
        table.put(i, -1)
    writer.join(60)
    again = new_backend("hashmap", tmp_path)
    again.restore(handles, files)
    assert {key: value for key, _, value in again.table("v").items()} == {i: i for i in range(30_000)}
    backend.close()


def resident_anonymous_bytes() -> int:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon"))


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs Linux' /proc")
@pytest.mark.parametrize("kind", ["value", "list", "map"])
def test_memory_stays_bounded_while_state_grows(tmp_path: Path, kind: str) -> None:
    options = {"wiesel.state.lmdb.cache-size": "4mb", "wiesel.state.lmdb.resident-size": "32mb"}
    backend = new_backend("lmdb", tmp_path, **options)
    table, text = backend.table("v", kind=kind), "x" * 200

    def add(start: int, end: int) -> None:
        for i in range(start, end):
            if kind == "value":
                table.put(i, text + str(i))
            elif kind == "list":
                table.append(i % 500, text + str(i))
            else:
                table.put_entry(i % 500, i, text + str(i))

    add(0, 40_000)
    gc.collect()
    before = resident_anonymous_bytes()
    add(40_000, 200_000)
    gc.collect()
    # 160,000 values of 210 bytes would take more than 40 MB as objects.
    assert resident_anonymous_bytes() - before < 20 << 20
    assert backend.size_bytes() > 30 << 20
    if kind == "value":
        assert all(table.get(i) == text + str(i) for i in range(0, 200_000, 997))
    elif kind == "list":
        assert table.get(7) == [text + str(i) for i in range(7, 200_000, 500)]
    else:
        assert dict(table.entries(7)) == {i: text + str(i) for i in range(7, 200_000, 500)}
    backend.close()


def test_mapped_pages_are_given_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dropped: list[int] = []
    monkeypatch.setattr(lmdb_env, "_madvise", lambda start, length: dropped.append(length))
    for limit, expected in [(1 << 40, False), (0, True)]:
        environment = LmdbEnvironment(str(tmp_path), "x", 8 << 20, limit)
        environment.write([], [], [(b"k", b"v")])
        environment.close()
        assert bool(dropped) == expected
    assert dropped == [8 << 20]
    monkeypatch.undo()
    environment = LmdbEnvironment(str(tmp_path), "x", 8 << 20, 0)
    environment.write([], [], [(b"k", b"v")])
    assert environment.get(b"k") == b"v"
    environment.close()


@pytest.mark.parametrize("spaced", [False, True])
def test_keys_begin_with_their_group_and_can_be_read_back(spaced: bool) -> None:
    codec = SlotCodec(3, spaced, 128)
    keys = [0, -1, 2**63 - 1, 2**70, True, 1.5, "", "a" * 49, "a" * 50, "a" * 400, "\ud800", None, ("t", (1,)), b"x", "ß" * 30]
    slots: list[Any] = [(key, namespace) for key in keys for namespace in (5, ("w", "x" * 300))] if spaced else keys
    seen: set[bytes] = set()
    for slot in slots:
        prefix = codec.prefix(slot)
        assert int.from_bytes(prefix[:2], "big") == key_group(slot[0] if spaced else slot, 128)
        assert int.from_bytes(prefix[2:4], "big") == 3
        assert len(prefix) < 300
        assert not any(prefix.startswith(other) or other.startswith(prefix) for other in seen)
        seen.add(prefix)
        assert decode_slot(prefix, codec.encode(slot) + b"value")[0] == slot


def test_backends_are_found_by_name(tmp_path: Path) -> None:
    assert isinstance(new_backend("hashmap", tmp_path), HashMapBackend)
    for name in ("lmdb", "forst"):
        backend = new_backend(name, tmp_path)
        assert isinstance(backend, LmdbBackend)
        backend.close()
    with pytest.raises(ConfigurationError, match="hashmap, lmdb"):
        new_backend("nonsense", tmp_path)


def test_backends_of_others_come_in_by_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "theirs-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[wiesel.state_backends]\ntheirs = their_backend:make\n")
    (tmp_path / "their_backend.py").write_text("def make(**options):\n    return sorted(options)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    expected = ["clock", "key_group_range", "local_dir", "operator_id", "options", "parallelism", "subtask"]
    assert new_backend("theirs", tmp_path) == expected
    assert make_backend is not None


def test_changes_nobody_asks_for_do_not_fill_the_disk(tmp_path: Path) -> None:
    backend = new_backend("lmdb", tmp_path)
    table = backend.table("v")
    table.put("gone", "removed before the snapshot")
    backend.flush()
    table.remove("gone")
    for round_number in range(40):
        for key in range(1000):
            table.put(key, f"{round_number}" * 200)
        backend.flush()
    # The file of changes has no name; that it is gone shows in what is open.
    open_bytes = sum(
        os.stat(f"/proc/self/fd/{fd}").st_size
        for fd in os.listdir("/proc/self/fd")
        if str(tmp_path) in (target := _target(fd)) and "deleted" in target
    )
    assert open_bytes < 2 << 20
    files = MemoryFiles()
    handle = backend.snapshot(1).run(files)
    backend.close()
    other = new_backend("hashmap", tmp_path)
    other.restore([handle], files)
    assert {key: value for key, _, value in other.table("v").items()} == dict.fromkeys(range(1000), "39" * 200)


def _target(fd: str) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        return ""


@pytest.mark.parametrize(
    "slots",
    [
        [*range(-500, 500), -(1 << 63), (1 << 63) - 1],
        [*range(100), 1 << 63],
        [*range(100), True, 1.0],
        [f"k{i}" for i in range(100)],
        list(range(3)),
    ],
    ids=["integers", "longer than 64 bits", "what equals integers", "texts", "few"],
)
def test_entries_made_at_once_are_those_made_one_by_one(slots: list[Any]) -> None:
    codec = SlotCodec(7, False, 1000)
    payloads = [b"value %d" % i for i in range(len(slots))]
    one_by_one = [(codec.prefix(slot), codec.encode(slot) + payload) for slot, payload in zip(slots, payloads, strict=True)]
    assert codec.entries(slots, payloads) == one_by_one
    assert [decode_slot(*entry)[0] for entry in one_by_one] == slots
