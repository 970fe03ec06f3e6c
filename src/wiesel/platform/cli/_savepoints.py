"""Internal. ``wiesel savepoint``: what can be told of savepoints, and done with them, without a running job."""

from __future__ import annotations

from datetime import datetime, timezone

import click

from wiesel.checkpoint.savepoint import Savepoint, savepoints_below
from wiesel.checkpoint.snapshots import is_savepoint
from wiesel.core.errors import CheckpointError, CorruptCheckpointError
from wiesel.platform.cli._program import ProgramFailed, Submission, first_job
from wiesel.platform.cli._state import as_table, told
from wiesel.state_processor.compatibility import SavepointCheck, check_savepoint

__all__ = ["check", "dispose", "list_below"]

_HEADS = ("taken", "bytes", "label", "job", "", "path")


def list_below(directory: str) -> int:
    """Print the savepoints in a directory, the newest first; return the exit code."""

    def work() -> int:
        rows: list[tuple[str, ...]] = [_HEADS]
        damaged = []
        found = []
        for savepoint in savepoints_below(directory):
            try:
                found.append(savepoint.facts())
            except CorruptCheckpointError as error:
                damaged.append(error.message)
        for facts in sorted(found, key=lambda facts: facts.timestamp_ms, reverse=True):
            taken = datetime.fromtimestamp(facts.timestamp_ms / 1e3, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
            how = "drained" if facts.drained else "stopped" if facts.stopped else "-"
            job = f"{facts.job_name} ({facts.job_id})"
            rows.append((taken, str(facts.size_bytes), facts.label or "-", job, how, facts.path))
        for line in as_table(rows) if found else [f"there are no savepoints in {directory}"]:
            click.echo(line)
        for message in damaged:
            click.echo(message, err=True)
        return 1 if damaged else 0

    return told(work)


def dispose(path: str) -> int:
    """Delete a savepoint; return the exit code."""

    def work() -> None:
        if not is_savepoint(path):
            raise CheckpointError(
                f"there is no savepoint at {path}",
                hint="'wiesel savepoint list DIRECTORY' shows those that there are; checkpoints are deleted by their jobs",
            )
        Savepoint(path).delete()
        click.echo(f"deleted {path}")

    return told(work)


def check(submission: Submission, path: str, *, allow_dropped: bool) -> int:
    """Print what becomes of the states of a savepoint if the program starts from it; return 0 if it would start."""

    def work() -> int:
        found = check_savepoint(first_job(submission), path)
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
    rows: list[tuple[str, ...]] = [("operator", "state", "", "why", "where")]
    rows += [(v.operator, v.state, v.verdict, v.reason or "-", v.location or "-") for v in found.verdicts]
    for line in as_table(rows):
        click.echo(line)
    for warning in found.warnings:
        click.echo(f"warning: {warning}")
