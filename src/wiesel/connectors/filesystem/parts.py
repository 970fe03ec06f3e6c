"""Internal. Part files of a file sink from in-progress to committed, and their ownership.

An unfinished part is in the sink's hidden staging folder: ``<base>/.inprogress-<job>-<operator>/``. The committer
moves it to its visible name. In the staging folder the name of a part ends with the number of the attempt that wrote it, so
an attempt never writes to a file of another one, and a process of a dead attempt can do no harm.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from wiesel.connectors.filesystem.file_systems import FileSystem, filesystem_for
from wiesel.core.errors import ConnectorError
from wiesel.core.logs import get_logger
from wiesel.spi.sink import CommitRequest, Committer

__all__ = [
    "CommitRecord",
    "FileCommitter",
    "OpenPart",
    "PendingPart",
    "StagedName",
    "StalePart",
    "WaitingPart",
    "WriterEnded",
    "WriterState",
    "staging_folder",
]

_log = get_logger("wiesel.connectors.filesystem.sink")
_RECORD = ".committed.json"


@dataclass(frozen=True)
class PendingPart:
    """Committable: move the complete file ``staged`` (``size`` bytes) to ``target``. Paths as URIs."""

    staged: str
    target: str
    size: int


@dataclass(frozen=True)
class StalePart:
    """Committable: the contents of ``staged`` by an older attempt are written elsewhere, so the file can be deleted."""

    staged: str


@dataclass(frozen=True)
class WriterEnded:
    """Committable: one of ``parallelism`` writers has finished and no longer needs the staging folder."""

    staging: str
    subtask: int
    parallelism: int


@dataclass(frozen=True)
class OpenPart:
    """A part that continues after the checkpoint: its first ``length`` bytes are valid. Times in ms of processing time."""

    bucket: str
    staged: str
    length: int
    created_ms: int
    updated_ms: int


@dataclass(frozen=True)
class WaitingPart:
    """A complete part of ``size`` bytes that will be committed merged with others."""

    bucket: str
    staged: str
    size: int


@dataclass(frozen=True)
class WriterState:
    """State of a writer. Committed names are ``...-<uid>-<number>...``; numbers below ``next_number`` are used."""

    job_id: str
    attempt: int
    uid: str
    next_number: int
    open_parts: tuple[OpenPart, ...] = ()
    waiting: tuple[WaitingPart, ...] = ()


@dataclass(frozen=True)
class StagedName:
    """The name of a part in the staging folder."""

    prefix: str
    uid: str
    number: int
    suffix: str
    attempt: int

    def __str__(self) -> str:
        return f".{self.prefix}-{self.uid}-{self.number}{self.suffix}.inprogress.{self.attempt}"

    @property
    def visible(self) -> str:
        """Return the committed name."""
        return f"{self.prefix}-{self.uid}-{self.number}{self.suffix}"

    @staticmethod
    def parse(path: str) -> StagedName | None:
        """Return the parts of a name, None for other files."""
        match = _STAGED.fullmatch(posixpath.basename(path))
        return None if match is None else StagedName(match[1], match[2], int(match[3]), match[4], int(match[5]))


_STAGED = re.compile(r"\.(.+)-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-(\d+)(.*)\.inprogress\.(\d+)", re.DOTALL)


def staging_folder(base: str, job_id: str, operator_id: str) -> str:
    """Return the hidden folder of a sink's unfinished parts."""
    return FileSystem.join(base, f".inprogress-{job_id}-{operator_id}")


@dataclass
class CommitRecord:
    """The last action of a sink's committer; a small file in the staging folder.

    It records two facts that the files alone do not show: whether a missing part was committed once (a reader of the output may have
    removed it), and whether the output is ahead of a checkpoint.

    Attributes:
        highest: For each writer's uid the highest number among its committed parts.
        last: Paths of the last commits.
        ended: The finished writers, by their parallelism: they may finish in different attempts of the committer.
    """

    highest: dict[str, int] = field(default_factory=dict)
    last: list[list[str]] = field(default_factory=list)
    ended: dict[str, list[int]] = field(default_factory=dict)

    @staticmethod
    def load(files: FileSystem, folder: str) -> CommitRecord:
        """Read it; an empty one if there is none."""
        path = FileSystem.join(folder, _RECORD)
        try:
            with files.open_read(path) as stream:
                data = json.loads(stream.read())
            highest = {str(k): int(v) for k, v in data["highest"].items()}
            ended = {str(k): [int(subtask) for subtask in v] for k, v in data.get("ended", {}).items()}
            return CommitRecord(highest, [list(names) for names in data["last"]], ended)
        except FileNotFoundError:
            return CommitRecord()
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            # It is replaced atomically, so it is only damaged if the disk is. It protects against rare mistakes; continue without it.
            _log.warning("the commit record %s cannot be read and is ignored: %s", path, error)
            return CommitRecord()

    def add(self, parts: Sequence[PendingPart]) -> None:
        """Record parts that were committed together."""
        for part in parts:
            name = StagedName.parse(part.staged)
            if name is not None:
                self.highest[name.uid] = max(name.number, self.highest.get(name.uid, -1))
        # Only the last commits can be repeated after a failure; a few more cost nothing.
        self.last = [*self.last[-3:], [part.target for part in parts]]

    def save(self, files: FileSystem, folder: str) -> None:
        """Replace it."""
        path = FileSystem.join(folder, _RECORD)
        fresh = f"{path}.new"
        with files.open_new(fresh) as stream:
            stream.write(json.dumps({"highest": self.highest, "last": self.last, "ended": self.ended}).encode())
        if not files.local:
            files.remove(path)
        files.move(fresh, path)

    def knows(self, target: str) -> bool:
        """Return whether a part was committed recently."""
        return any(target in names for names in self.last)


class FileCommitter(Committer[Any]):
    """Commits pending parts. Never overwrites; repeated commits have no effect and are signalled as committed already.

    Args:
        base_path: The folder of the sink.
    """

    combines_checkpoints = True

    def __init__(self, base_path: str) -> None:
        self._base_path = base_path
        self._ended: dict[tuple[str, int], set[int]] = {}

    def commit(self, requests: Sequence[CommitRequest[Any]]) -> None:
        """Move all parts, then delete what they replace.

        Raises:
            ConnectorError: If a part is missing or incomplete, or its final name is used by another file.
        """
        by_folder: dict[str, list[CommitRequest[PendingPart]]] = {}
        for request in requests:
            if isinstance(request.committable, PendingPart):
                by_folder.setdefault(posixpath.dirname(request.committable.staged), []).append(request)
        for folder, in_folder in by_folder.items():
            self._commit_folder(folder, in_folder)
        for part in (request.committable for request in requests):
            if isinstance(part, StalePart):
                files, path = filesystem_for(part.staged)
                files.remove(path)
            elif isinstance(part, WriterEnded):
                self._end(part)

    def _commit_folder(self, uri: str, requests: Sequence[CommitRequest[PendingPart]]) -> None:
        files, folder = filesystem_for(uri)
        parts = [request.committable for request in requests]
        if self._is_elsewhere(uri, parts):
            _log.warning(
                "%d parts of the savepoint were written to %s, which does not exist here: they are left to the job that wrote them",
                len(parts),
                posixpath.dirname(uri),
            )
            return
        record = CommitRecord.load(files, folder)
        moved = []
        for request in requests:
            if _move(files, request.committable, record):
                moved.append(request.committable)
            else:
                request.signal_already_committed()
        if not moved:
            return
        _sync_folders(files, posixpath.dirname(folder), (filesystem_for(part.target)[1] for part in moved))
        record.add(moved)
        record.save(files, folder)

    def _is_elsewhere(self, uri: str, parts: Sequence[PendingPart]) -> bool:
        """Return whether parts are of a job that wrote to another folder, and not visible from here.

        This is the case when a savepoint has been copied to another cluster. The job that stopped with it has committed the parts there.
        """
        files, folder = filesystem_for(uri)
        if posixpath.dirname(folder) == filesystem_for(self._base_path)[1].rstrip("/") or files.files_in(folder):
            return False
        return all(files.size(filesystem_for(part.target)[1]) is None for part in parts)

    def _end(self, writer: WriterEnded) -> None:
        """Record that a writer has finished; delete the staging folder after the last one if only the record is left."""
        files, folder = filesystem_for(writer.staging)
        rest = files.files_in(folder)
        record = CommitRecord.load(files, folder)
        ended = self._ended.setdefault((writer.staging, writer.parallelism), set())
        ended |= {writer.subtask, *record.ended.get(str(writer.parallelism), ())}
        if len(ended) == writer.parallelism:
            _take_away(files, folder, rest)
        elif rest:  # else it may be deleted already, and this a repeated commit
            record.ended[str(writer.parallelism)] = sorted(ended)
            record.save(files, folder)


def _take_away(files: FileSystem, folder: str, rest: Sequence[str]) -> None:
    if all(posixpath.basename(path).startswith(_RECORD) for path in rest):
        for path in rest:
            files.remove(path)
        files.remove_empty_folder(folder)


def _move(files: FileSystem, part: PendingPart, record: CommitRecord) -> bool:
    """Commit one part; return False if it was committed already."""
    _, staged = filesystem_for(part.staged)
    _, target = filesystem_for(part.target)
    there = files.size(target)
    if there is not None:
        if there != part.size:
            raise ConnectorError(
                f"{part.target} exists already, with {there} instead of {part.size} bytes",
                hint="something else writes files of this name; give the sink a folder of its own",
                path=part.target,
            )
        # An earlier commit got this far. On an object store it may not have deleted the staged object.
        files.remove(staged)
        return False
    size = files.size(staged)
    if size is None:
        if record.knows(part.target):
            return False
        raise ConnectorError(
            f"the part file {part.staged} is gone before it became visible as {part.target}",
            hint="the base path must be the same folder on the driver and on all workers; nothing but the sink may delete its hidden files",
            path=part.staged,
        )
    if size != part.size:
        raise ConnectorError(
            f"the part file {part.staged} has {size} instead of {part.size} bytes",
            hint="the disk lost data that it had confirmed; start from an older checkpoint",
            path=part.staged,
        )
    files.move(staged, target)
    return True


def _sync_folders(files: FileSystem, base: str, targets: Iterable[str]) -> None:
    """Sync the directory entries of new files and buckets."""
    folders = {base}
    for target in targets:
        folder = posixpath.dirname(target)
        while len(folder) > len(base) and folder not in folders:
            folders.add(folder)
            folder = posixpath.dirname(folder)
    for folder in sorted(folders):
        files.sync_folder(folder)
