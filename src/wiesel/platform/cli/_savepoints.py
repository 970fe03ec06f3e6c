"""Internal. ``wiesel savepoint``: inspection and management of savepoints without a running job."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict
from datetime import datetime, timezone

import click

from wiesel.checkpoint.metadata import unpacked
from wiesel.checkpoint.savepoint import Savepoint, savepoints_below
from wiesel.checkpoint.snapshots import Retained, find_snapshot, is_savepoint
from wiesel.checkpoint.store import MasterProcess
from wiesel.connectors.filesystem.parts import WriterState
from wiesel.connectors.filesystem.repair import take_back
from wiesel.core.errors import CheckpointError, CorruptCheckpointError
from wiesel.engine.registry import registry_directory, running_jobs
from wiesel.platform.cli._output import as_table, told
from wiesel.platform.cli._program import ProgramFailed, Submission, first_job
from wiesel.platform.cli._state import SnapshotTrust
from wiesel.state_processor.compatibility import SavepointCheck, check_savepoint

__all__ = ["check", "dispose", "list_below", "repair"]

_PROCESS_ENDS_S = 5.0
_LOOK_EVERY_S = 0.1
_HEADS = ("taken", "bytes", "label", "job", "job was", "path")


def list_below(directory: str, *, as_json: bool = False) -> int:
    """Print the savepoints in a directory, the newest first; return the exit code."""

    def work() -> int:
        if "://" not in directory and not os.path.isdir(directory):
            raise CheckpointError(f"there is no directory {directory}", hint="check the path")
        rows: list[tuple[str, ...]] = [_HEADS]
        damaged = []
        found = []
        for savepoint in savepoints_below(directory):
            try:
                found.append(savepoint.facts())
            except CorruptCheckpointError as error:
                damaged.append(error.message)
        found.sort(key=lambda facts: facts.timestamp_ms, reverse=True)
        for facts in found:
            taken = datetime.fromtimestamp(facts.timestamp_ms / 1e3, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
            how = "drained" if facts.drained else "stopped" if facts.stopped else "-"
            how += " (unaligned)" if facts.unaligned else ""
            job = f"{facts.job_name} ({facts.job_id})"
            rows.append((taken, str(facts.size_bytes), facts.label or "-", job, how, facts.path))
        if as_json:
            click.echo(json.dumps([asdict(facts) for facts in found], indent=2, default=str))
        else:
            click.echo("\n".join(as_table(rows) if found else [f"there are no savepoints in {directory}"]))
        for message in damaged:
            click.echo(message, err=True)
        return 1 if damaged else 0

    return told(work)


def dispose(path: str, *, force: bool, as_json: bool = False) -> int:
    """Delete a savepoint or a retained checkpoint; return the exit code."""

    def work() -> None:
        if is_savepoint(path):
            Savepoint(path).delete()
        else:
            _delete_checkpoint(path, force=force)
        click.echo(json.dumps({"deleted": path}) if as_json else f"deleted {path}")

    return told(work)


def _delete_checkpoint(path: str, *, force: bool) -> None:
    clean = path.rstrip("/")
    try:
        found = find_snapshot(clean, verify=False)
    except CorruptCheckpointError as error:
        raise CheckpointError(
            f"there is no savepoint and no checkpoint to delete at {path}: {error.message}",
            hint="'wiesel savepoint list DIRECTORY' shows those that there are",
        ) from error
    if found.retained is None or found.retained.checkpoint_id is None:
        raise CheckpointError(f"there is no savepoint at {path}", hint=f"of a job's checkpoints name one: {found.path}")
    if found.retained.is_of_job:
        _check_ended(found.retained, force=force)
    found.delete()


def _check_ended(checkpoint: Retained, *, force: bool) -> None:
    """Raise an error if the job that wrote a checkpoint runs, or if that is unknown."""
    job_id = checkpoint.name
    if any(entry.job_id == job_id for entry in running_jobs(registry_directory())):
        raise CheckpointError(f"the job {job_id} runs and needs its checkpoints", hint="it deletes them itself; cancel or stop it first")
    master = checkpoint.store.newest_master()
    if force or (master is not None and _ends(master)):
        return
    where = "" if master is None else f" in process {master.pid} on {'this host' if master.is_here else master.host}"
    raise CheckpointError(
        f"whether the job {job_id}, which wrote the checkpoint, still runs{where} is not known",
        hint="if you know that it has ended, delete the checkpoint with --force",
    )


def repair(path: str, output: str, trust: SnapshotTrust) -> int:
    """Revert the commits of a job's file sinks to a folder after a checkpoint; return the exit code."""

    def work() -> None:
        found = find_snapshot(path.rstrip("/"), verify=False, key=trust.key(path))
        if found.retained is None or found.retained.checkpoint_id is None or not found.retained.is_of_job:
            raise CheckpointError(f"{path} is not a checkpoint of a job", hint="give .../<job id>/chk-7, from which the job is to go on")
        _check_ended(found.retained, force=False)
        job_id, checkpoint_id = found.retained.name, found.checkpoint.checkpoint_id
        states: dict[str, list[WriterState]] = {}
        for task in unpacked(found.checkpoint).tasks.values():
            for operator_id, part in task.operators.items():
                if isinstance(part.writer_state, WriterState):
                    states.setdefault(operator_id, []).append(part.writer_state)
        folder = f".taken-back-{job_id}-chk-{checkpoint_id}"
        taken = {operator_id: take_back(output, job_id, operator_id, of_sink, folder) for operator_id, of_sink in states.items()}
        if all(moved is None for moved in taken.values()):
            raise CheckpointError(f"no file sink of the job writes to {output}", hint="give the path that the program gives to the sink")
        for moved_to in (path for moved in taken.values() for path in moved or ()):
            click.echo(moved_to)
        click.echo(f"{output} is that of checkpoint {checkpoint_id}; start the job from {found.path} with --claimMode claim")

    return told(work)


def _ends(master: MasterProcess) -> bool:
    """Return whether the process of a job has ended; a job that was just cancelled gets a moment for it."""
    deadline_s = time.monotonic() + _PROCESS_ENDS_S
    while not master.has_ended:
        if not master.is_here or time.monotonic() > deadline_s:
            return False
        time.sleep(_LOOK_EVERY_S)
    return True


def check(submission: Submission, path: str, *, allow_dropped: bool, as_json: bool = False) -> int:
    """Print the restore result of each state of a savepoint; return 0 if the job would start."""

    def work() -> int:
        found = check_savepoint(first_job(submission), path)
        if as_json:
            starts = found.fits and (allow_dropped or not found.drops)
            click.echo(json.dumps({**asdict(found), "starts": starts}, indent=2, default=str))
            return 0 if starts else 1
        _print(found)
        if not found.fits:
            click.echo("the job would not start: it has incompatible state")
            return 1
        if found.drops and not allow_dropped:
            click.echo("the job would start with --allowNonRestoredState only, and without what is dropped")
            return 1
        click.echo("the job would start")
        return 0

    try:
        return told(work)
    except ProgramFailed as failed:
        click.echo(str(failed), err=True)
        return 1


def _print(found: SavepointCheck) -> None:
    click.echo(f"savepoint {found.path}")
    # # The reason is the last column, as it may be long and would move columns behind it out of sight.
    rows: list[tuple[str, ...]] = [("operator", "state", "is", "where", "why")]
    rows += [(v.operator, v.state, v.verdict, v.location or "-", v.reason or "-") for v in found.verdicts]
    for line in as_table(rows):
        click.echo(line)
    for warning in found.warnings:
        click.echo(f"warning: {warning}")
