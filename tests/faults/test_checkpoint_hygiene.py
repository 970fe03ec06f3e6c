"""Damaged checkpoint files: an older complete checkpoint is used or a named error is raised, never something silently wrong."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from wiesel.checkpoint.coordinator import Checkpoint
from wiesel.checkpoint.metadata import unpacked
from wiesel.checkpoint.savepoint import Savepoint
from wiesel.checkpoint.snapshot import OperatorStateSnapshot, TaskSnapshot
from wiesel.checkpoint.store import CheckpointStore, StateFiles, resolve_restore_path
from wiesel.core.errors import CheckpointStorageError, CorruptCheckpointError, FencedError
from wiesel.state.backend import StateHandle

JOB = "0123456789abcdef0123456789abcdef"
OPERATOR_STATE = {"id": JOB, "name": "hygiene", "vertices": []}
STATE_BYTES = 20_000
TASKS = [(0, 0), (1, 0), (1, 1)]


def contents(checkpoint_id: int, task: tuple[int, int]) -> bytes:
    return random.Random(f"{checkpoint_id}{task}").randbytes(STATE_BYTES)


def make_checkpoint(directory: Path, attempt: int, checkpoint_id: int) -> Checkpoint:
    """Write the state files of a checkpoint, as tasks do."""
    tasks = {}
    for vertex, subtask in TASKS:
        files = StateFiles(str(directory), JOB, f"{attempt}-{vertex}-{subtask}-{checkpoint_id}")
        large = files.write("state", [contents(checkpoint_id, (vertex, subtask))])
        small = files.write("small", [b"inline"])
        state = OperatorStateSnapshot(StateHandle((large, small), 0, 127, {}), committables=[f"c{checkpoint_id}"])
        tasks[vertex, subtask] = TaskSnapshot({"op": state})
    return Checkpoint(checkpoint_id, attempt, 1000 * checkpoint_id, tasks, {"op": [checkpoint_id]})


def job_with(directory: Path, count: int) -> CheckpointStore:
    """Return the store of a job with the checkpoints 1 to ``count``."""
    store = CheckpointStore(str(directory), JOB)
    attempt = store.acquire()
    for checkpoint_id in range(1, count + 1):
        store.publish(make_checkpoint(directory, attempt, checkpoint_id), OPERATOR_STATE)
    return store


def must_be_whole(directory: Path, checkpoint: Checkpoint) -> None:
    """Compare all that a restored checkpoint says with what was written."""
    files, checkpoint = StateFiles(str(directory), JOB, "reader"), unpacked(checkpoint)
    assert checkpoint.enumerators == {"op": [checkpoint.checkpoint_id]}
    assert set(checkpoint.tasks) == set(TASKS)
    for task, snapshot in checkpoint.tasks.items():
        state = snapshot.operators["op"].state
        assert state is not None
        assert files.read(state.files[0]) == contents(checkpoint.checkpoint_id, task)
        assert files.read(state.files[1]) == b"inline"


def files_of(directory: Path, checkpoint_id: int) -> list[Path]:
    job = directory / JOB
    return [job / f"chk-{checkpoint_id}" / "_metadata", *sorted((job / "shared").glob(f"*-{checkpoint_id}-state-*"))]


def truncate(path: Path, seed: random.Random) -> None:
    os.truncate(path, seed.randrange(path.stat().st_size))


def flip(path: Path, seed: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[seed.randrange(len(data))] ^= 1 << seed.randrange(8)
    path.write_bytes(data)


def delete(path: Path, seed: random.Random) -> None:
    path.unlink()


def lengthen(path: Path, seed: random.Random) -> None:
    with path.open("ab") as file:
        file.write(b"\0")


def empty(path: Path, seed: random.Random) -> None:
    os.truncate(path, 0)


DAMAGES = [truncate, flip, delete, lengthen, empty]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("which", range(1 + len(TASKS)))
def test_older_checkpoint_is_used_when_the_newest_is_damaged(
    tmp_path: Path, damage: Callable[[Path, random.Random], None], which: int
) -> None:
    store = job_with(tmp_path, 2)
    assert len(files_of(tmp_path, 2)) == 1 + len(TASKS)
    number = random.SystemRandom().randrange(10**6)
    print(f"seed {number}")
    damage(files_of(tmp_path, 2)[which], random.Random(number))
    with pytest.raises(CorruptCheckpointError):
        store.load(2)
    found = CheckpointStore(str(tmp_path), JOB).load_latest()
    assert found is not None and found[0].checkpoint_id == 1 and found[1] == OPERATOR_STATE
    must_be_whole(tmp_path, found[0])


@pytest.mark.parametrize("damage", [truncate, flip, empty])
def test_named_error_when_no_checkpoint_is_whole(tmp_path: Path, damage: Callable[[Path, random.Random], None]) -> None:
    store = job_with(tmp_path, 2)
    for checkpoint_id in (1, 2):
        damage(files_of(tmp_path, checkpoint_id)[checkpoint_id], random.Random(checkpoint_id))
    with pytest.raises(CorruptCheckpointError, match=f"{JOB}/shared/.*{JOB}/shared/"):
        store.load_latest()


def test_every_flipped_bit_of_the_metadata_is_noticed(tmp_path: Path) -> None:
    store = job_with(tmp_path, 1)
    path = files_of(tmp_path, 1)[0]
    good = path.read_bytes()
    number = random.SystemRandom().randrange(10**6)
    print(f"seed {number}")
    seed = random.Random(number)
    header = good.index(b"\n") + 1
    # All of the header, where a check could be missing, and a sample of the body, which has a checksum.
    for at in [*range(header), *(seed.randrange(header, len(good)) for _ in range(100))]:
        for bit in range(8):
            bad = bytearray(good)
            bad[at] ^= 1 << bit
            path.write_bytes(bad)
            with pytest.raises(CorruptCheckpointError):
                store.load(1)


def test_every_truncation_of_the_metadata_is_noticed(tmp_path: Path) -> None:
    store = job_with(tmp_path, 1)
    path = files_of(tmp_path, 1)[0]
    good = path.read_bytes()
    for length in [*range(200), *range(200, len(good), 97), len(good) - 1]:
        path.write_bytes(good[:length])
        with pytest.raises(CorruptCheckpointError):
            store.load(1)


def test_swapped_state_files_are_noticed(tmp_path: Path) -> None:
    store = job_with(tmp_path, 2)
    one, two = files_of(tmp_path, 2)[1:3]
    first, second = one.read_bytes(), two.read_bytes()
    assert len(first) == len(second), "only the checksum can tell them apart"
    one.write_bytes(second)
    two.write_bytes(first)
    with pytest.raises(CorruptCheckpointError):
        store.load(2)
    found = store.load_latest()
    assert found is not None and found[0].checkpoint_id == 1


def test_metadata_under_the_number_of_another_checkpoint_is_noticed(tmp_path: Path) -> None:
    store = job_with(tmp_path, 3)
    old, new = files_of(tmp_path, 1)[0], files_of(tmp_path, 3)[0]
    new.write_bytes(old.read_bytes())
    with pytest.raises(CorruptCheckpointError):
        store.load(3)
    found = store.load_latest()
    assert found is not None and found[0].checkpoint_id == 2


def test_superseded_attempt_can_publish_nothing(tmp_path: Path) -> None:
    zombie = job_with(tmp_path, 1)
    newer = CheckpointStore(str(tmp_path), JOB)
    assert newer.acquire() == 2
    late = make_checkpoint(tmp_path, 1, 2)
    for act in (
        lambda: zombie.publish(late, OPERATOR_STATE),
        lambda: zombie.sweep([]),
        zombie.clear,
        zombie.check_fence,
    ):
        with pytest.raises(FencedError, match=r"attempt 1 .* attempt 2"):
            act()
    assert newer.checkpoint_ids() == [1]
    newer.publish(make_checkpoint(tmp_path, 2, 2), OPERATOR_STATE)
    found = newer.load_latest()
    assert found is not None and (found[0].checkpoint_id, found[0].attempt) == (2, 2)
    must_be_whole(tmp_path, found[0])


def test_two_masters_that_start_at_once_get_different_attempts(tmp_path: Path) -> None:
    stores = [CheckpointStore(str(tmp_path), JOB) for _ in range(4)]
    assert sorted(store.acquire() for store in stores) == [1, 2, 3, 4]


def test_only_the_newest_attempt_stays_announced_and_fences_those_before(tmp_path: Path) -> None:
    attempts = tmp_path / JOB / "attempts"
    first = job_with(tmp_path, 1)
    store = CheckpointStore(str(tmp_path), JOB)
    assert [store.acquire(), store.acquire()] == [2, 3]
    with pytest.raises(FencedError):
        first.forget_older_attempts()
    assert len(list(attempts.iterdir())) == 3, "who was replaced deletes nothing"
    store.sweep([])
    assert [path.name for path in attempts.iterdir()] == ["3"]
    with pytest.raises(FencedError):
        first.acquire()
    assert [path.name for path in attempts.iterdir()] == ["3"], "a number that is free again is not taken"
    store.acquire()
    store.clear()
    assert [path.name for path in (tmp_path / JOB).rglob("*")] == ["attempts", "4"], "a master that was cut off must find it"
    with pytest.raises(FencedError):
        first.acquire()
    assert CheckpointStore(str(tmp_path), JOB).acquire() == 5


def test_a_number_whose_announcement_was_deleted_meanwhile_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One master has looked for the newest attempt before another one began two and forgot the first of these."""
    one, other = CheckpointStore(str(tmp_path), JOB), CheckpointStore(str(tmp_path), JOB)
    one.acquire()
    late = CheckpointStore(str(tmp_path), JOB)
    newest = CheckpointStore._newest_attempt

    def looked_before(store: CheckpointStore) -> int:
        monkeypatch.setattr(CheckpointStore, "_newest_attempt", newest)
        seen = newest(store)
        other.acquire()
        other.acquire()
        other.forget_older_attempts()
        return seen

    monkeypatch.setattr(CheckpointStore, "_newest_attempt", looked_before)
    assert late.acquire() == 4
    with pytest.raises(FencedError):
        other.check_fence()


def test_a_checkpoint_is_never_published_twice(tmp_path: Path) -> None:
    store = job_with(tmp_path, 1)
    before = files_of(tmp_path, 1)[0].read_bytes()
    with pytest.raises(CheckpointStorageError, match="exists already"):
        store.publish(replace(make_checkpoint(tmp_path, 1, 1), timestamp_ms=7), OPERATOR_STATE)
    assert files_of(tmp_path, 1)[0].read_bytes() == before


def test_leftovers_of_a_zombie_are_never_taken_for_a_checkpoint(tmp_path: Path) -> None:
    store = job_with(tmp_path, 1)
    job = tmp_path / JOB
    # Died while it wrote state, and while it wrote metadata: that has a temporary name until it is whole.
    make_checkpoint(tmp_path, 1, 2)
    half = job / "chk-2" / "_metadata.4711.tmp"
    half.parent.mkdir()
    half.write_bytes(files_of(tmp_path, 1)[0].read_bytes()[:100])
    (job / "chk-nonsense").mkdir()
    assert store.checkpoint_ids() == [1]
    successor = CheckpointStore(str(tmp_path), JOB)
    successor.acquire()
    found = successor.load_latest()
    assert found is not None and found[0].checkpoint_id == 1
    successor.sweep([found[0]])
    assert not half.parent.exists() and not list((job / "shared").glob("*-2-state-*"))
    must_be_whole(tmp_path, successor.load(1)[0])
    # The number is free again, and what is published under it is the successor's.
    successor.publish(make_checkpoint(tmp_path, 2, 2), OPERATOR_STATE)
    assert successor.load(2)[0].attempt == 2


def test_master_that_is_superseded_while_it_publishes_must_not_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zombie = job_with(tmp_path, 1)
    late = make_checkpoint(tmp_path, 1, 2)
    successor = CheckpointStore(str(tmp_path), JOB)
    create = zombie._io.create

    def overtaken(path: str, data: bytes) -> bool:
        successor.acquire()
        found = successor.load_latest()
        assert found is not None and found[0].checkpoint_id == 1
        return create(path, data)

    monkeypatch.setattr(zombie._io, "create", overtaken)
    with pytest.raises(FencedError):
        zombie.publish(late, OPERATOR_STATE)
    # The successor went on from checkpoint 1. It does not use the number that the zombie has taken.
    assert successor.next_id() == 3


def test_number_of_a_damaged_checkpoint_is_not_used_again(tmp_path: Path) -> None:
    job_with(tmp_path, 3)
    truncate(files_of(tmp_path, 3)[1], random.Random(1))
    truncate(files_of(tmp_path, 2)[0], random.Random(1))
    successor = CheckpointStore(str(tmp_path), JOB)
    attempt = successor.acquire()
    found = successor.load_latest()
    assert found is not None and found[0].checkpoint_id == 1
    successor.publish(make_checkpoint(tmp_path, attempt, successor.next_id()), OPERATOR_STATE)
    found = successor.load_latest()
    assert found is not None and (found[0].checkpoint_id, found[0].attempt) == (4, attempt)


def test_sweep_leaves_what_is_retained_newer_or_of_this_attempt(tmp_path: Path) -> None:
    job_with(tmp_path, 5)
    make_checkpoint(tmp_path, 1, 6)  # its master died before it was published
    successor = CheckpointStore(str(tmp_path), JOB)
    attempt = successor.acquire()
    own = make_checkpoint(tmp_path, attempt, 7)
    retained = successor.retained(successor.load(4)[0], 2)
    assert [c.checkpoint_id for c in retained] == [3, 4]
    successor.sweep(retained)
    assert successor.checkpoint_ids() == [5, 4, 3]
    for checkpoint_id in (3, 4, 5):
        must_be_whole(tmp_path, successor.load(checkpoint_id)[0])
    assert not files_of(tmp_path, 1)[1:] and not files_of(tmp_path, 2)[1:] and not files_of(tmp_path, 6)[1:]
    successor.publish(own, OPERATOR_STATE)
    must_be_whole(tmp_path, successor.load(7)[0])


def test_discard_keeps_what_another_checkpoint_names(tmp_path: Path) -> None:
    store = job_with(tmp_path, 1)
    first = store.load(1)[0]
    second = replace(first, checkpoint_id=2, enumerators={"op": [2]})
    store.publish(second, OPERATOR_STATE)
    store.discard(first, [second])
    assert store.checkpoint_ids() == [2]
    files = StateFiles(str(tmp_path), JOB, "reader")
    for task, snapshot in store.load(2)[0].tasks.items():
        state = snapshot.operators["op"].state
        assert state is not None and files.read(state.files[0]) == contents(1, task)


@pytest.mark.parametrize("path", ["nowhere", f"{JOB}/chk-9", JOB])
def test_restore_from_where_nothing_is(tmp_path: Path, path: str) -> None:
    with pytest.raises(CorruptCheckpointError, match="there is no checkpoint"):
        directory, job_id, checkpoint_id = resolve_restore_path(str(tmp_path / path))
        CheckpointStore(directory, job_id).load(checkpoint_id or 0)


def test_a_savepoint_never_takes_the_place_of_another(tmp_path: Path) -> None:
    files = StateFiles(str(tmp_path / "checkpoints"), JOB, "reader")
    checkpoints = [make_checkpoint(tmp_path / "checkpoints", 1, checkpoint_id) for checkpoint_id in (1, 2)]
    place = Savepoint(str(tmp_path / "savepoint"))
    place.publish(checkpoints[0], OPERATOR_STATE, files)
    with pytest.raises(CheckpointStorageError, match="there is a savepoint at"):
        place.publish(checkpoints[1], OPERATOR_STATE, files)
    assert place.load()[0].checkpoint_id == 1
