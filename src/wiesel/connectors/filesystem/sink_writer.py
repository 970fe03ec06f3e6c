"""Internal. The writer of a file sink: open parts by bucket, rolled by a policy, durable before each acknowledgement."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, cast
from uuid import UUID, uuid5

from wiesel.connectors.filesystem.buckets import BucketAssigner, BucketContext, group_by_bucket
from wiesel.connectors.filesystem.compaction import FileCompactor, FileCompactStrategy
from wiesel.connectors.filesystem.file_systems import FileSystem, filesystem_for
from wiesel.connectors.filesystem.parts import (
    CommitRecord,
    OpenPart,
    PendingPart,
    StagedName,
    StalePart,
    WaitingPart,
    WriterEnded,
    WriterState,
    staging_folder,
)
from wiesel.connectors.filesystem.rolling import OutputFileConfig, RollingPolicy
from wiesel.connectors.filesystem.waiting import Compaction, WaitingParts
from wiesel.core.errors import ConnectorError
from wiesel.spi.file_formats import BulkWriter, BulkWriterFactory
from wiesel.spi.serialization import Encoder
from wiesel.spi.sink import SinkWriter, WriterInitContext

__all__ = ["FileSinkSettings", "FileWriter"]

_NAMES = UUID("6f0c3ad7-6a3e-4e0c-9a51-5b3f7d5f1f57")
_COMPACTED = "compacted-"
_OPEN_FILES = 128
"""Maximal number of open files; others are reopened when a record arrives for them."""


@dataclass(frozen=True)
class FileSinkSettings:
    """Settings of a file sink. ``encoder`` for row formats, ``bulk`` for bulk formats; one of them is None.

    ``compaction``: strategy for small files, None for none.
    """

    base_path: str
    encoder: Encoder | None
    bulk: BulkWriterFactory | None
    assigner: BucketAssigner
    policy: RollingPolicy
    names: OutputFileConfig
    check_interval_ms: int
    compaction: tuple[FileCompactStrategy, FileCompactor] | None = None


class _Part(ABC):
    """A part that is being written; a ``PartFileInfo`` for rolling policies."""

    def __init__(self, bucket: str, name: StagedName, path: str, now_ms: int) -> None:
        self.bucket_id = bucket
        self.name = name
        self.path = path
        self.creation_time = self.last_update_time = now_ms

    @property
    @abstractmethod
    def size(self) -> int:
        """Return the bytes written so far."""

    @abstractmethod
    def write(self, values: Sequence[Any]) -> None:
        """Write records."""

    @abstractmethod
    def persist(self) -> None:
        """Make the written data durable."""

    @abstractmethod
    def finish(self) -> None:
        """Complete the file, make it durable, close it."""

    @abstractmethod
    def release(self) -> None:
        """Close the file as it is."""


class _RowPart(_Part):
    """Concatenated encoded records. Its file need not stay open."""

    size = 0

    def __init__(self, files: FileSystem, encoder: Encoder, bucket: str, name: StagedName, path: str, now_ms: int) -> None:
        super().__init__(bucket, name, path, now_ms)
        self._files = files
        self._encode = encoder.encode_many
        self.stream: BinaryIO | None = files.open_new(path)
        self._dirty = False

    def write(self, values: Sequence[Any]) -> None:
        data = self._encode(values)
        if self.stream is None:
            self.stream = self._files.open_append(self.path)
        self.stream.write(data)
        self.size += len(data)
        self._dirty = True

    def persist(self) -> None:
        if not self._dirty:
            return
        if self.stream is not None:
            self._files.sync(self.stream)
        else:
            # The file was closed to limit open files; synchronising covers earlier writes.
            with self._files.open_append(self.path) as stream:
                self._files.sync(stream)
        self._dirty = False

    def adopt(self, part: OpenPart) -> None:
        """Start with the data written by an earlier attempt up to its checkpoint."""
        self.release()
        files, source = filesystem_for(part.staged)
        files.copy_prefix(source, self.path, part.length)
        self.size = part.length
        self.creation_time, self.last_update_time = part.created_ms, part.updated_ms
        self._dirty = True

    def finish(self) -> None:
        self.persist()
        self.release()

    def release(self) -> None:
        if self.stream is not None:
            self.stream.close()
            self.stream = None


class _BulkPart(_Part):
    def __init__(self, files: FileSystem, factory: BulkWriterFactory, bucket: str, name: StagedName, path: str, now_ms: int) -> None:
        super().__init__(bucket, name, path, now_ms)
        self._files = files
        raw = files.open_new(path)
        self._stream = cast(BinaryIO, io.BufferedWriter(cast(io.RawIOBase, raw), 1 << 16)) if files.local else raw
        self._size = 0
        self._writer: BulkWriter = factory.create(self._stream)

    @property
    def size(self) -> int:
        return self._size if self._stream.closed else self._stream.tell()

    def write(self, values: Sequence[Any]) -> None:
        self._writer.add_batch(values)

    def persist(self) -> None:
        raise ConnectorError("a bulk part cannot go on after a checkpoint", hint="use the on-checkpoint rolling policy")

    def finish(self) -> None:
        self._writer.finish()
        self._stream.flush()
        self._files.sync(self._stream)
        self._size = self._stream.tell()
        self._stream.close()

    def release(self) -> None:
        self._writer.abandon()
        self._stream.close()


class FileWriter(SinkWriter):
    """Writes the parts of one subtask.

    At a checkpoint every part is closed and becomes a committable, or, with a row format on a local file system and if the policy allows
    it, stays open: then the state has its length, and after a failure the part is restored with a copy of that many bytes.
    """

    def __init__(self, context: WriterInitContext, settings: FileSinkSettings, states: Sequence[WriterState]) -> None:
        self._context = context
        self._settings = settings
        self._files, self._base = filesystem_for(settings.base_path)
        self._staging = staging_folder(self._base, context.job_id, context.operator_id)
        self._encoder = settings.encoder.bind(context.input_type) if settings.encoder is not None else None
        self._buckets = BucketContext()
        self._parts: dict[str, _Part] = {}
        self._open_files: dict[str, _RowPart] = {}
        self._pending: list[PendingPart | StalePart | WriterEnded] = []
        self._new_names = False
        self._next_check_ms = context.now_ms() + settings.check_interval_ms
        own = [state for state in states if state.job_id == context.job_id]
        # The numbering continues over attempts; a job that starts from another one's savepoint has a separate one.
        fresh = uuid5(_NAMES, f"{context.job_id}/{context.operator_id}/{context.subtask_index}/{context.attempt}")
        self._uid = own[0].uid if own else str(fresh)
        self._next_number = own[0].next_number if own else 0
        self._clean_up(own)
        compaction = settings.compaction
        self._waiting = None if compaction is None else WaitingParts(compaction[0])
        self._compaction = None if compaction is None else Compaction(self._files, *compaction)
        for state in states:
            for waiting in state.waiting:
                self._wait_again(waiting, ours=state.job_id == context.job_id)
            for part in state.open_parts:
                self._adopt(part, ours=state.job_id == context.job_id)

    # Restore

    def _clean_up(self, own: Sequence[WriterState]) -> None:
        """Delete left-overs of attempts between the restored checkpoint and this one; reject output from after the checkpoint."""
        context = self._context
        if context.attempt <= 1 and not own:
            return
        since = own[0].attempt if own else 0
        numbers = {state.uid: state.next_number for state in own}
        self._check_not_ahead(numbers)
        for path in self._files.files_in(self._staging):
            name = StagedName.parse(path)
            if name is None or name.attempt >= context.attempt:
                continue
            # Files of the attempt that took the checkpoint: those with numbers from after it. Later attempts have left no
            # checkpoint behind, so nothing of theirs counts; the first subtask deletes it, which always has a state if any has.
            stale = name.number >= numbers.get(name.uid, name.number + 1) if name.attempt == since else name.attempt > since
            mine = name.uid in numbers if name.attempt == since else context.subtask_index == 0
            if stale and mine and (own or context.restored_checkpoint_id == 0):
                self._files.remove(path)

    def _check_not_ahead(self, numbers: dict[str, int]) -> None:
        record = CommitRecord.load(self._files, self._staging) if numbers else CommitRecord()
        ahead = {uid: highest for uid, highest in record.highest.items() if highest >= numbers.get(uid, highest + 1)}
        if not ahead:
            return
        names = ", ".join(f"*-{uid}-{numbers[uid]} to -{highest}" for uid, highest in sorted(ahead.items()))
        checkpoint = f"CHECKPOINT_DIR/{self._context.job_id}/chk-{self._context.restored_checkpoint_id}"
        raise ConnectorError(
            f"the output in {self._settings.base_path} is ahead of checkpoint {self._context.restored_checkpoint_id}: the parts {names} "
            "were committed by a later checkpoint, and their records would be written again; other writers may have more",
            hint="restore the later checkpoint; or revert what all writers have committed since, and start from the older one, where "
            f"CHECKPOINT_DIR is that of execution.checkpointing.dir: wiesel savepoint repair {checkpoint} {self._settings.base_path} "
            f"&& wiesel run -s {checkpoint} --claimMode claim PROGRAM",
            path=self._settings.base_path,
        )

    def _adopt(self, part: OpenPart, *, ours: bool) -> None:
        # Never appended in place: a process of the attempt that wrote it may still live.
        fresh = self._begin(part.bucket, self._context.now_ms())
        if not isinstance(fresh, _RowPart):
            raise ConnectorError(
                f"the checkpoint has an open part of a row format, {part.staged}, and the sink now has a bulk format",
                hint="stop the job with its old program once more, or give the sink another uid",
            )
        try:
            fresh.adopt(part)
        except (FileNotFoundError, EOFError) as error:
            raise ConnectorError(
                f"cannot go on writing the part file {part.staged}, of which checkpoint {self._context.restored_checkpoint_id} has "
                f"{part.length} bytes: {error}",
                hint="a later checkpoint has committed it already, or it was deleted; restore the newest checkpoint of the job",
                path=part.staged,
            ) from error
        if ours:
            self._pending.append(StalePart(part.staged))
        # Two parts of one bucket meet when the parallelism is reduced; the first is complete then.
        if part.bucket in self._parts:
            self._close_part(self._parts[part.bucket])
        self._parts[part.bucket] = fresh

    def _wait_again(self, part: WaitingPart, *, ours: bool) -> None:
        if not ours:
            # The other job continues with its file, so this one needs a copy.
            name = self._next_name()
            path = FileSystem.join(self._staging, str(name))
            files, source = filesystem_for(part.staged)
            try:
                files.copy_prefix(source, path, part.size)
            except (FileNotFoundError, EOFError) as error:
                raise ConnectorError(
                    f"cannot copy the part file {part.staged} of the job that this one starts from: {error}",
                    hint="that job has committed it already; start from its newest checkpoint",
                    path=part.staged,
                ) from error
            part = WaitingPart(part.bucket, self._files.uri(path), part.size)
        if self._waiting is not None:
            self._waiting.add(part)
            return
        # Pending parts are restored, but compaction is disabled now.
        known = StagedName.parse(part.staged)
        target = FileSystem.join(self._base, part.bucket, (known or self._next_name()).visible)
        self._pending.append(PendingPart(part.staged, self._files.uri(target), part.size))

    # Writing

    def write_batch(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Write records into the parts of their buckets."""
        if not values:
            return
        now_ms = self._context.now_ms()
        context = self._buckets
        context.processing_time = now_ms
        for bucket, group in group_by_bucket(self._settings.assigner, values, timestamps, context):
            part = self._parts.get(bucket)
            if part is not None and self._settings.policy.should_roll_on_event(part, group[0]):
                self._close_part(part)
                part = None
            if part is None:
                part = self._parts[bucket] = self._begin(bucket, now_ms)
            part.write(group)
            part.last_update_time = now_ms
            if isinstance(part, _RowPart):
                self._limit_open_files(part)

    def _begin(self, bucket: str, now_ms: int) -> _Part:
        name = self._next_name()
        path = FileSystem.join(self._staging, str(name))
        if self._encoder is not None:
            return _RowPart(self._files, self._encoder, bucket, name, path, now_ms)
        if self._settings.bulk is None:
            raise ConnectorError("a file sink needs an encoder or a bulk format", hint="use FileSink.for_row_format or for_bulk_format")
        return _BulkPart(self._files, self._settings.bulk, bucket, name, path, now_ms)

    def _next_name(self, before_prefix: str = "") -> StagedName:
        names = self._settings.names
        prefix = before_prefix + names.get_part_prefix()
        name = StagedName(prefix, self._uid, self._next_number, names.get_part_suffix(), self._context.attempt)
        self._next_number += 1
        self._new_names = True
        return name

    def _limit_open_files(self, part: _RowPart) -> None:
        """Limit the open files to the most recently used; on remote file systems a file cannot be reopened."""
        if not self._files.local:
            return
        # Delete and insert: a dict keeps the order of insertion.
        self._open_files.pop(part.bucket_id, None)
        self._open_files[part.bucket_id] = part
        if len(self._open_files) > _OPEN_FILES:
            self._open_files.pop(next(iter(self._open_files))).release()

    def _close_part(self, part: _Part) -> None:
        part.finish()
        self._parts.pop(part.bucket_id, None)
        self._open_files.pop(part.bucket_id, None)
        if self._waiting is not None:
            self._waiting.add(WaitingPart(part.bucket_id, self._files.uri(part.path), part.size))
            return
        target = FileSystem.join(self._base, part.bucket_id, part.name.visible)
        self._pending.append(PendingPart(self._files.uri(part.path), self._files.uri(target), part.size))

    def write_watermark(self, timestamp: int) -> None:
        """Remember the event time for bucket assigners."""
        self._buckets.watermark = timestamp

    def on_processing_time(self, now_ms: int) -> None:
        """Close parts that are due by the policy."""
        if now_ms < self._next_check_ms:
            return
        self._next_check_ms = now_ms + self._settings.check_interval_ms
        for part in list(self._parts.values()):
            if self._settings.policy.should_roll_on_processing_time(part, now_ms):
                self._close_part(part)

    # Checkpoints

    def close_buckets(self, buckets: Collection[str]) -> None:
        """Close the parts of buckets that are complete, so that they become visible with the next checkpoint."""
        for part in list(self._parts.values()):
            if part.bucket_id in buckets:
                self._close_part(part)

    def flush(self, end_of_input: bool) -> None:
        """Close parts, or make durable those that stay open."""
        stays = self._encoder is not None and self._files.local and not end_of_input
        for part in list(self._parts.values()):
            if stays and not self._settings.policy.should_roll_on_checkpoint(part):
                part.persist()
            else:
                self._close_part(part)
        self._compact(end_of_input)
        if self._new_names:
            self._files.sync_folder(self._staging)
            self._files.sync_folder(self._base)
            self._new_names = False
        if end_of_input:
            self._pending.append(WriterEnded(self._files.uri(self._staging), self._context.subtask_index, self._context.parallelism))

    def _compact(self, end_of_input: bool) -> None:
        """Compact the due parts; the resulting files are committed instead of them."""
        if self._waiting is None or self._compaction is None:
            return
        groups = self._waiting.take_due(end_of_input)
        names = [self._next_name(_COMPACTED) for _ in groups]
        paths = [FileSystem.join(self._staging, str(name)) for name in names]
        sizes = self._compaction.run(groups, paths)
        for group, name, path, size in zip(groups, names, paths, sizes, strict=True):
            target = FileSystem.join(self._base, group[0].bucket, name.visible)
            self._pending.append(PendingPart(self._files.uri(path), self._files.uri(target), size))
            self._pending += [StalePart(part.staged) for part in group]

    def prepare_commit(self) -> list[Any]:
        """Return the parts closed since the last call."""
        pending, self._pending = self._pending, []
        return list(pending)

    def snapshot_state(self, checkpoint_id: int) -> WriterState:
        """Return the line of names and the open parts."""
        open_parts = tuple(
            OpenPart(p.bucket_id, self._files.uri(p.path), p.size, p.creation_time, p.last_update_time) for p in self._parts.values()
        )
        waiting = () if self._waiting is None else self._waiting.all()
        return WriterState(self._context.job_id, self._context.attempt, self._uid, self._next_number, open_parts, waiting)

    def close(self) -> None:
        """Close the files without changes: a checkpoint may need them."""
        for part in self._parts.values():
            part.release()
