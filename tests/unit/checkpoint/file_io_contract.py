"""What every kind of checkpoint storage must hold, whatever is behind it."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from wiesel.checkpoint.coordinator import Checkpoint
from wiesel.checkpoint.file_io import FileIO, open_root
from wiesel.checkpoint.snapshot import OperatorStateSnapshot, TaskSnapshot
from wiesel.checkpoint.store import CheckpointStore, StateFiles
from wiesel.core.errors import CorruptCheckpointError, FencedError
from wiesel.state.backend import StateHandle

_PATHS = ("a/x", "a/y", "a/b/z", "a/b%", "a_/x", "b/deep/er/file", "top")
_DIRECTORIES = ("", "a", "a/b", "a_", "b", "b/deep", "nothing")


def names_of(files: dict[str, bytes], directory: str) -> list[str]:
    """The names that a listing has to show, by the model."""
    prefix = f"{directory}/" if directory else ""
    return sorted({path[len(prefix) :].partition("/")[0] for path in files if path.startswith(prefix)})


def behaves_like_a_dict(address: str, steps: int) -> None:
    """Do the same at random to the storage and to a dict of paths, and compare all that can be seen."""
    seed = random.randrange(1 << 30)
    print(f"{address}: seed {seed}")
    rnd, root = random.Random(seed), open_root(address)
    files: dict[str, bytes] = {}
    for _ in range(steps):
        path, data = rnd.choice(_PATHS), rnd.randbytes(rnd.choice((0, 1, 5000)))
        action = rnd.choice(("write", "create", "delete", "delete-all"))
        if action == "write":
            root.write(path, [data[:1], memoryview(data)[1:]])
            files[path] = data
        elif action == "create":
            assert root.create(path, data) is (path not in files)
            files.setdefault(path, data)
        else:
            path = path if action == "delete" else path.partition("/")[0]
            root.delete(path)
            files = {p: d for p, d in files.items() if p != path and not p.startswith(f"{path}/")}
        for known in _PATHS:
            assert root.exists(known) is (known in files)
            assert root.size(known) == (len(files[known]) if known in files else None)
            if known in files:
                assert root.read(known) == files[known]
            else:
                with pytest.raises(FileNotFoundError):
                    root.read(known)
        for directory in _DIRECTORIES:
            # A local disk keeps a directory from which all files have gone; nobody looks for what is below it.
            listed = [name for name in root.names(directory) if holds_files(root, f"{directory}/{name}".lstrip("/"))]
            assert listed == names_of(files, directory), (directory, action, path)


def holds_files(root: FileIO, path: str) -> bool:
    """Whether a path is that of a file, or a directory with a file somewhere below it."""
    below = root.names(path)
    return any(holds_files(root, f"{path}/{name}") for name in below) if below else path in _PATHS


def only_one_creates(address: str, *, rounds: int, somebody: bool) -> None:
    """Several at once create a file of one name: never do two of them succeed, and what is there is what the winner wrote."""
    many = 4
    roots = [open_root(address) for _ in range(many)]
    with ThreadPoolExecutor(many) as pool:
        for number in range(rounds):
            together = Barrier(many)

            def attempt(who: int, number: int = number, together: Barrier = together) -> bool:
                together.wait(60)
                return roots[who].create(f"race/{number}", str(who).encode())

            won = [who for who, success in enumerate(pool.map(attempt, range(many))) if success]
            assert len(won) <= 1 and (won or not somebody)
            if won:
                assert roots[0].read(f"race/{number}") == str(won[0]).encode()


def holds_a_large_file(address: str) -> None:
    """A file larger than what any of them writes at once, and one of no bytes at all."""
    root, data = open_root(address), random.Random(7).randbytes(9_000_001)
    root.write("big", [data[:100], memoryview(data)[100:]])
    root.write("empty", [])
    assert open_root(address).read("big") == data and root.read("empty") == b""


def keeps_checkpoints(address: str) -> None:
    """A store publishes, finds, fences, verifies and deletes."""
    store = CheckpointStore(address, "job")
    assert store.acquire() == 1
    written = []
    for number in (1, 2, 3):
        file = StateFiles(address, "job", f"1-0-{number}").write("op", [bytes([number]) * 10_000])
        handle = StateHandle((file,), 0, 127, {})
        task = TaskSnapshot({"op": OperatorStateSnapshot(state=handle)})
        written.append(Checkpoint(number, 1, 1000 + number, {(0, 0): task}, {}))
        store.publish(written[-1], {"id": "job", "name": "test"})
    assert store.checkpoint_ids() == [3, 2, 1]
    found = CheckpointStore(address, "job").load_latest()
    assert found is not None and found[0] == written[2]
    store.discard(written[0], written[1:])
    assert store.checkpoint_ids() == [3, 2] and len(open_root(address).names("job/shared")) == 2
    newest = written[2].tasks[(0, 0)].operators["op"].state
    assert newest is not None
    open_root(address).write(newest.files[0].name, [b"torn"])
    with pytest.raises(CorruptCheckpointError, match="incomplete"):
        store.load(3)
    found = store.load_latest()
    assert found is not None and found[0] == written[1], "the newest that is whole"
    other = CheckpointStore(address, "job")
    assert other.acquire() == 2
    with pytest.raises(FencedError):
        store.publish(Checkpoint(4, 1, 1, {}, {}), {"id": "job"})
    other.clear()
    assert other.checkpoint_ids() == [] and open_root(address).names("job/shared") == []


def keeps_all(address: str, *, steps: int, rounds: int, somebody: bool) -> None:
    """All of it, each below an address of its own."""
    behaves_like_a_dict(f"{address}/model", steps)
    only_one_creates(f"{address}/race", rounds=rounds, somebody=somebody)
    holds_a_large_file(f"{address}/large")
    keeps_checkpoints(f"{address}/checkpoints")
