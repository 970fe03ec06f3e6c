"""Internal. Commit of a table's files: replaces overwritten files, and marks partitions as complete."""

from __future__ import annotations

import contextlib
import itertools
import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wiesel.connectors.filesystem.file_systems import filesystem_for, is_hidden
from wiesel.connectors.filesystem.partition_commit import CommitTimes, SlowestReport
from wiesel.connectors.filesystem.parts import PendingPart, WriterEnded
from wiesel.core.logs import get_logger
from wiesel.spi.sink import CommitRequest, Committer

__all__ = ["TableCommit", "TableCommitter"]

_log = get_logger("wiesel.connectors.filesystem.table")


@dataclass(frozen=True)
class TableCommit:
    """Settings of the commit of a table. Plain picklable data.

    Attributes:
        base: The folder of the table.
        partitioned: Whether its rows are in folders of partitions.
        replacing: What the names of the files of an INSERT OVERWRITE have in them, and those that they replace do not; None if nothing is
            replaced.
        success_file: The name of the empty file that marks a partition as there; None for none.
        times: From when on partitions are complete, and marked; None for as soon as there is something of them.
    """

    base: str
    partitioned: bool
    replacing: str | None = None
    success_file: str | None = None
    times: CommitTimes | None = None

    @property
    def is_plain(self) -> bool:
        """Return whether there is nothing to do."""
        return self.replacing is None and self.success_file is None


class TableCommitter(Committer[Any]):
    """Commits files of a table. All of it can be done again with the same outcome.

    Args:
        files: Makes the files visible.
        commit: What else is to be done.
    """

    combines_checkpoints = True

    def __init__(self, files: Committer[Any], commit: TableCommit) -> None:
        self._files = files
        self._commit = commit
        self._reports = SlowestReport()

    def commit(self, requests: Sequence[CommitRequest[Any]]) -> None:
        """Remove what is replaced, make files visible, then mark their partitions."""
        committables = [request.committable for request in requests]
        folders = {posixpath.dirname(part.target): None for part in committables if isinstance(part, PendingPart)}
        if self._commit.replacing is not None:
            if self._commit.partitioned:
                for folder in folders:
                    self._clear(folder, self._commit.replacing)
            elif any(isinstance(each, PendingPart | WriterEnded) for each in committables):
                files, base = filesystem_for(self._commit.base)
                with contextlib.suppress(FileNotFoundError):
                    for folder in {posixpath.dirname(status.path): None for status in files.walk(base)}:
                        self._clear(files.uri(folder), self._commit.replacing)
        self._files.commit(requests)
        if self._commit.success_file is not None and self._commit.partitioned:
            for folder in folders if self._commit.times is None else self._complete(requests):
                self._mark(folder, self._commit.success_file)

    def _complete(self, requests: Sequence[CommitRequest[Any]]) -> list[str]:
        files, base = filesystem_for(self._commit.base)
        found: list[str] = []
        for _, of_checkpoint in itertools.groupby(requests, key=lambda request: request.checkpoint_id):
            found += self._reports.complete([request.committable for request in of_checkpoint])
        return [files.uri(files.join(base, folder)) for folder in found]

    def _clear(self, folder: str, mark: str) -> None:
        files, path = filesystem_for(folder)
        for file in files.files_in(path):
            name = posixpath.basename(file)
            if mark not in name and not is_hidden(name):
                files.remove(file)

    def _mark(self, folder: str, name: str) -> None:
        files, path = filesystem_for(folder)
        target = files.join(path, name)
        if files.size(target) is None:
            files.open_new(target).close()
            _log.info("partition %s is there", folder)

    def close(self) -> None:
        """Release resources."""
        self._files.close()
