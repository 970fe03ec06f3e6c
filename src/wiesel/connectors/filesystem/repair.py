"""Internal. Reverts files that sinks have committed after a checkpoint, so that a job restored from it writes no duplicates."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence

from wiesel.connectors.filesystem.file_systems import FileSystem, filesystem_for
from wiesel.connectors.filesystem.parts import CommitRecord, StagedName, WriterState, staging_folder
from wiesel.core.errors import ConnectorError

__all__ = ["take_back"]

_VISIBLE = re.compile(r"-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-(\d+)")


def take_back(base_path: str, job_id: str, operator_id: str, states: Sequence[WriterState], folder_name: str) -> list[str] | None:
    """Move the parts of all writers of a sink that are not in a checkpoint into a hidden folder, and remove them from the commit record.

    The commit record is replaced last, atomically: until then the job refuses to start, and this can be repeated.

    Args:
        base_path: The folder of the sink.
        job_id: The job.
        operator_id: The sink.
        states: The states of all its writers in the checkpoint.
        folder_name: Name of the hidden folder below the base path.

    Returns:
        The new paths of the parts; None if the sink writes to another folder.

    Raises:
        ConnectorError: If a part needed by the checkpoint is missing, so that the job cannot continue from it; nothing was moved.
    """
    files, base = filesystem_for(base_path)
    staging = staging_folder(base, job_id, operator_id)
    if not files.files_in(staging):
        return None
    _check_staged(states)
    numbers = {state.uid: state.next_number for state in states}
    record = CommitRecord.load(files, staging)
    moved = []
    for status in list(files.walk(base)):
        if not _is_ahead(status.path, numbers):
            continue
        target = FileSystem.join(base, folder_name, posixpath.relpath(status.path, base))
        files.move(status.path, target)
        moved.append(target)
    record.highest = {uid: min(highest, numbers.get(uid, highest + 1) - 1) for uid, highest in record.highest.items()}
    record.last = [[target for target in names if not _is_ahead(target, numbers)] for names in record.last]
    record.ended = {}
    record.save(files, staging)
    return moved


def _is_ahead(path: str, numbers: Mapping[str, int]) -> bool:
    found = _VISIBLE.search(posixpath.basename(path))
    return found is not None and int(found[2]) >= numbers.get(found[1], int(found[2]) + 1)


def _check_staged(states: Sequence[WriterState]) -> None:
    needed = [(part.staged, part.length) for state in states for part in state.open_parts]
    needed += [(part.staged, part.size) for state in states for part in state.waiting]
    for staged, length in needed:
        files, path = filesystem_for(staged)
        size = files.size(path)
        if StagedName.parse(path) is not None and (size is None or size < length):
            raise ConnectorError(
                f"the job cannot go on from this checkpoint: its part {staged} was made visible, or compacted, since",
                hint="start from a savepoint, or without state and with an empty folder",
                path=staged,
            )
