"""Internal. Recovery: the snapshot that a job starts and restarts from, its id and attempt, and ownership of snapshots.

A job that claims a checkpoint of a job continues under that job's id, in its directory and with its older masters fenced. One that claims
any other snapshot (a savepoint, one of the state processor, a checkpoint below another checkpoint directory) uses it as its first
checkpoint and deletes it when later ones have subsumed it, if its checkpoints are on storage. Without claim the snapshot is not modified,
and not needed once the job has a checkpoint.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from wiesel.checkpoint.coordinator import Checkpoint
from wiesel.checkpoint.local_copies import LocalCopies
from wiesel.checkpoint.metadata import unpacked
from wiesel.checkpoint.snapshots import Found, Retained, find_snapshot
from wiesel.checkpoint.state_files import standing_alone, with_files
from wiesel.checkpoint.store import CheckpointStore, MemoryStateFiles, StateFiles
from wiesel.core.errors import FencedError, WieselError
from wiesel.core.logs import get_logger
from wiesel.engine.base import JobSettings
from wiesel.engine.deployment import check_restorable, job_facts, reused_ids, take_over_key_groups, without_operators
from wiesel.graph.job_graph import JobGraph

_log = get_logger("wiesel.job")


class Recovery:
    """The snapshots of one job, over all its attempts.

    Attributes:
        job: The program.
        job_id: The id of the job; final after ``first``.
        number: The present attempt; never reused.
        store: The job's checkpoints, None if they are in memory only.
        facts: Information on the job for its checkpoints.
        snapshot_key: Key to sign the job's snapshots, None for no signature.
        base_facts: Information on the job in the checkpoint restored by the present attempt.
    """

    def __init__(self, job: JobGraph, settings: JobSettings, job_id: str, given: tuple[Checkpoint, dict[str, Any]] | None = None) -> None:
        self.job_id = job_id
        self.number = 0
        self.store: CheckpointStore | None = None
        self.facts = job_facts(job, job_id)
        self.snapshot_key = settings.snapshot_key
        self.base_facts: dict[str, Any] | None = None
        self.job = job
        self._settings = settings
        self._given = given
        self._base: Checkpoint | None = None
        self._started_from: tuple[int, str] | None = None
        """Id and path given by the user."""
        self._owned: Found | None = None
        self._own_from = 1
        self._since = 0
        """The attempt in which all tasks began; separately restarted regions have later numbers."""
        self._acquiring = threading.Lock()
        self.published: tuple[Checkpoint, dict[str, Any]] | None = None
        """The newest checkpoint if there is no store, and the information on the job then."""

    # Snapshots to restore

    def first(self) -> Checkpoint | None:
        """Find the snapshot to start from and begin the first attempt.

        Raises:
            CorruptCheckpointError, StateMigrationError: If it cannot be restored into this program.
        """
        checkpoint = self._first()
        self._since = self.number
        return checkpoint

    def _first(self) -> Checkpoint | None:
        path = self._settings.restore_path
        if self._given is not None or not path:
            if self._given is not None:
                self._check(*self._given, None)
            self._open(restores=self._given is not None)
            return self._begin_with(*self._given) if self._given is not None else None
        found = find_snapshot(path)
        self._check(found.checkpoint, found.facts, found.path)
        claims = self._settings.claim_mode == "CLAIM"
        if claims and found.retained is not None and found.retained.is_of_job:
            found = self._go_on_as(path, found, found.retained)
        else:
            self._open(restores=True)
        self._started_from = found.checkpoint.checkpoint_id, found.path
        if claims and self.store is None:
            _log.warning(
                "%s is claimed by a job with checkpoints in memory, and is retained: nothing else would be left when this process "
                "ends; with execution.checkpointing.dir the job deletes it when a checkpoint of its own has replaced it",
                found.path,
            )
        elif claims and not self._lies_in_store(found):
            self._owned = found
        checkpoint = self._relative(found) if self._lies_in_store(found) else standing_alone(found.checkpoint)
        return self._begin_with(checkpoint, found.facts)

    def _begin_with(self, checkpoint: Checkpoint, facts: dict[str, Any]) -> Checkpoint:
        # The job trusts the given snapshot: pickled data in it is unpickled here and in its tasks.
        self._base, self.base_facts = unpacked(without_operators(checkpoint, reused_ids(self.job, facts))), facts
        return self._base

    def _check(self, checkpoint: Checkpoint, facts: dict[str, Any], path: str | None) -> None:
        take_over_key_groups(self.job, checkpoint, facts)
        check_restorable(self.job, checkpoint, facts, path, allow_non_restored=self._settings.allow_non_restored)
        self.facts = job_facts(self.job, self.job_id)

    def _open(self, *, restores: bool) -> None:
        """Open the job's store, if it has one."""
        if self._settings.checkpoint_dir and (self._settings.checkpoints.interval_ms is not None or restores):
            self.store = CheckpointStore(self._settings.checkpoint_dir, self.job_id, self._copies())
            self.number = self.store.acquire()
        else:
            self.number = 1

    def _copies(self) -> LocalCopies | None:
        """Return the local copies of the job's state files, if their directory is known."""
        return self._settings.local_backup.copies(self.job_id, "", None)

    def _go_on_as(self, path: str, found: Found, retained: Retained) -> Found:
        """Continue under the id of the job that wrote the checkpoint, with its older masters fenced; return the checkpoint to restore."""
        self.job_id = retained.name
        self.facts = job_facts(self.job, self.job_id)
        claimed = retained.store
        self.number = claimed.acquire()
        if retained.lies_in(self._settings.checkpoint_dir):
            self.store = claimed
            claimed.copies = self._copies()
        elif self._settings.checkpoint_dir:
            self.store = CheckpointStore(self._settings.checkpoint_dir, self.job_id, self._copies())
            self.number = self.store.acquire(at_least=self.number)
        # An older master could publish until it was fenced: the found checkpoint may not be the newest any more.
        if retained.checkpoint_id is None and claimed.checkpoint_ids()[:1] != [found.checkpoint.checkpoint_id]:
            found = find_snapshot(path)
            self._check(found.checkpoint, found.facts, found.path)
        # Newer checkpoints than the claimed one, which the user did not select, are not used for restarts.
        self._own_from = self.store.next_id() if self.store is not None else 1
        return found

    def _lies_in_store(self, found: Found) -> bool:
        return (
            self.store is not None
            and found.retained is not None
            and found.retained.name == self.job_id
            and found.retained.lies_in(self.store.directory)
        )

    def _relative(self, found: Found) -> Checkpoint:
        return found.checkpoint if self.store is None else with_files(found.checkpoint, self.store.relative)

    def again(self) -> Checkpoint | None:
        """Begin another attempt; return the newest intact checkpoint of the job, or else its initial snapshot.

        Raises:
            FencedError: If another master has taken over.
            CorruptCheckpointError: If there are checkpoints of the job, but none is intact.
        """
        with self._acquiring:
            self._since = self.number = self._next_number()
        if self.store is None:
            return self._begin_with(*self.published) if self.published is not None else self._base
        found = self.store.load_latest(at_least=self._own_from)
        return self._begin_with(*found) if found is not None else self._base

    def begin_region(self, since: int) -> int | None:
        """Begin another attempt of some tasks while the others run on; return its number. Called inside ``run_async``.

        Args:
            since: The attempt in which all tasks began. If they have been restarted meanwhile nothing is done, and None is returned.

        Raises:
            FencedError: If another master has taken over.
            CheckpointStorageError: If the storage failed.
        """
        with self._acquiring:
            if since != self._since:
                return None
            self.number = self._next_number()
            return self.number

    def _next_number(self) -> int:
        return self.number + 1 if self.store is None else self.store.acquire()

    def use(self, job: JobGraph) -> None:
        """Continue with the rescaled job, which later checkpoints refer to."""
        self.job = job
        self.facts = job_facts(job, self.job_id)

    def retained(self, restored: Checkpoint | None) -> list[Checkpoint]:
        """Return the retained checkpoints of the job up to the restored one, oldest first."""
        store = self.store
        if restored is None or store is None or restored.checkpoint_id not in store.checkpoint_ids():
            return []
        own = store.retained(restored, self._settings.checkpoints.num_retained)
        return own if self._owned is None else [self._owned.checkpoint, *own]

    def next_id(self) -> int:
        """Return an unused checkpoint number; those of damaged checkpoints are not reused."""
        return self.store.next_id() if self.store is not None else 1

    # Checkpoints of the job

    def path_of(self, checkpoint_id: int) -> str | None:
        """Return the path of a checkpoint, None if it is in memory."""
        return None if self.store is None else self.store.path_of(checkpoint_id)

    def origin_of(self, checkpoint: Checkpoint) -> str | None:
        """Return the path of the snapshot that an attempt is restored from, None if it is in memory."""
        # Ids of the job's checkpoints are above that of its initial snapshot.
        if self._started_from is not None and self._started_from[0] == checkpoint.checkpoint_id:
            return self._started_from[1]
        return self.path_of(checkpoint.checkpoint_id)

    @property
    def files(self) -> StateFiles | MemoryStateFiles:
        """Return the reader of the job's state files."""
        if self.store is None:
            return MemoryStateFiles(self.job_id, "master")
        return StateFiles(self.store.directory, self.job_id, "master")

    def publish(self, checkpoint: Checkpoint) -> None:
        """Publish a checkpoint. Without a store it is held in this process's memory.

        Raises:
            FencedError: If a newer attempt, restored from an older checkpoint, has started meanwhile.
            CheckpointStorageError: If the storage failed, or the checkpoint exists already.
        """
        facts = self.facts
        if self.store is not None:
            self.store.publish(checkpoint, facts, self.snapshot_key)
            return
        self.check_fence(checkpoint.attempt)
        self.published = checkpoint, facts

    def check_fence(self, attempt: int) -> None:
        """Raise if a newer attempt of all tasks has begun here, or any in another process.

        Raises:
            FencedError: it has.
        """
        if attempt >= self._since:
            attempt = self.number  # of a separately restarted region
        if self.store is not None:
            self.store.check_fence(attempt)
        elif attempt != self.number:
            raise FencedError(f"attempt {attempt} of job {self.job_id} was replaced by attempt {self.number}")

    def discard(self, checkpoint: Checkpoint, keep: Sequence[Checkpoint]) -> None:
        """Delete a subsumed checkpoint, including a claimed one."""
        if self._owned is not None and checkpoint.checkpoint_id == self._owned.checkpoint.checkpoint_id:
            self._delete_owned()
        elif self.store is not None:
            self.store.discard(checkpoint, keep)

    def clear(self) -> None:
        """Delete all checkpoints, a claimed one included: the job has finished and needs none."""
        self.clear_own()
        self._delete_owned()

    def clear_own(self) -> None:
        """Delete the checkpoints taken by the job.

        Raises:
            FencedError: If another master continues with them.
        """
        if self.store is not None:
            self.store.clear()

    def _delete_owned(self) -> None:
        owned, self._owned = self._owned, None
        if owned is None:
            return
        try:
            owned.delete()
        except (OSError, WieselError) as error:
            _log.warning("the claimed snapshot at %s could not be deleted: %s", owned.path, error)
