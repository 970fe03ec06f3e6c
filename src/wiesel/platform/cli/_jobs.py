"""Internal. ``wiesel list``, ``cancel``, ``stop``, ``savepoint``, ``checkpoint`` and ``rescale``: operations on running jobs."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

import click

from wiesel.core.errors import WieselError
from wiesel.engine.registry import JobEntry, registry_directory, running_jobs
from wiesel.platform.cli._job_description import described
from wiesel.platform.cli._output import as_table, told
from wiesel.platform.cli._progress import progress_lines

__all__ = [
    "JobNotReachedError",
    "JobRefusedError",
    "cancel",
    "cancel_job",
    "details",
    "list_jobs",
    "listed_jobs",
    "rescale",
    "show_job",
    "stop",
    "stop_job",
    "take_checkpoint",
    "take_savepoint",
]

_ANSWER_S = 90.0
_ASK_EVERY_S = 0.1
_SHOW_AFTER_S, _SHOW_EVERY_S = 2.0, 5.0
"""Delay of the first progress message of an operation, and interval of the next ones."""

_REPORT_S = 0.3
"""Time for tasks to report their progress."""

_NO_ANSWER = "(no answer)"
_HEADS = ("job", "name", "state", "since", "process", "endpoint")


class JobNotReachedError(WieselError):
    """The job does not exist, or does not answer."""


class JobRefusedError(WieselError):
    """Error: the job refused an operation, with the job's reason."""


def listed_jobs() -> list[dict[str, Any]]:
    """Return the running jobs of this user on this machine: ``job``, ``name``, ``state``, ``since``, ``process`` and ``endpoint``."""
    jobs = []
    for entry in running_jobs(registry_directory()):
        state = _state(entry)
        if state == _NO_ANSWER and not _runs(entry):
            continue  # it has ended in the meantime
        since = datetime.fromtimestamp(entry.started_ms / 1e3, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        jobs.append(dict(zip(_HEADS, (entry.job_id, entry.name, state, since, entry.pid, entry.address), strict=True)))
    return jobs


def list_jobs(*, as_json: bool = False) -> int:
    """Print the running jobs of this user on this machine; return the exit code."""

    def work() -> None:
        jobs = listed_jobs()
        if as_json:
            click.echo(json.dumps(jobs, indent=2))
            return
        rows: list[tuple[str, ...]] = [_HEADS, *(tuple(str(job[head]) for head in _HEADS) for job in jobs)]
        for line in as_table(rows) if jobs else ["no job runs here"]:
            click.echo(line)

    return told(work)


def _state(entry: JobEntry) -> str:
    try:
        return str(_ask(entry, "GET", "/status")["status"])
    except (JobNotReachedError, JobRefusedError):
        return _NO_ANSWER


def details(job: str) -> dict[str, Any]:
    """Return ``/jobs/:jobid`` of a running job, with ``/jobs/:jobid/checkpoints`` under ``checkpoints``.

    Raises:
        JobNotReachedError: If there is no such job, or it does not answer.
    """
    entry = _find(job)
    return {**_ask(entry, "GET", ""), "checkpoints": _ask(entry, "GET", "/checkpoints")}


def show_job(job: str, *, as_json: bool = False) -> int:
    """Print state, tasks and checkpoints of a job; return the exit code."""

    def work() -> None:
        found = details(job)
        click.echo(json.dumps(found, indent=2) if as_json else described(found))

    return told(work)


def cancel(job: str, *, as_json: bool = False) -> int:
    """Cancel a job; return the exit code when it has ended."""

    def work() -> None:
        job_id = cancel_job(job)
        click.echo(json.dumps({"job": job_id, "state": "CANCELED"}) if as_json else f"job {job_id} is cancelled")

    return told(work)


def cancel_job(job: str) -> str:
    """Cancel a job, wait for its end, and return its id.

    Raises:
        WieselError: If there is no such job, or it does not answer.
    """
    entry = _find(job)
    _ask(entry, "PATCH", "?mode=cancel")
    _wait_for_end(entry)
    return entry.job_id


def _runs(entry: JobEntry) -> bool:
    return any(other.token == entry.token for other in running_jobs(registry_directory()))


def _wait_for_end(entry: JobEntry) -> None:
    while _runs(entry):
        time.sleep(_ASK_EVERY_S)


def take_savepoint(job: str, directory: str | None, label: str, *, aligned_timeout: str | None = None, as_json: bool = False) -> int:
    """Take a savepoint and print its path; return the exit code."""
    body = {"target-directory": directory, "label": label, "alignedTimeout": aligned_timeout}
    return _print_operation(job, "/savepoints", body, lambda done: str(done["location"]), as_json=as_json)


def stop(
    job: str, directory: str | None, label: str, *, drain: bool, aligned_timeout: str | None = None, as_json: bool = False
) -> int:
    """Stop a job with a savepoint, wait for its end, and print the savepoint's path; return the exit code."""

    def work() -> None:
        job_id, path = stop_job(job, directory, label, drain=drain, aligned_timeout=aligned_timeout)
        click.echo(json.dumps({"job": job_id, "location": path}) if as_json else path)

    return told(work)


def stop_job(
    job: str, directory: str | None = None, label: str = "", *, drain: bool = False, aligned_timeout: str | None = None
) -> tuple[str, str]:
    """Stop a job with a savepoint, wait for its end, and return its id and the savepoint's path.

    Print the progress of the savepoint on standard error.

    Raises:
        WieselError: If there is no such job, or the savepoint failed.
    """
    body = {"targetDirectory": directory, "drain": drain, "label": label, "alignedTimeout": aligned_timeout}
    entry, done = _operate(job, "POST", "/stop", body)
    _wait_for_end(entry)
    return entry.job_id, str(done["location"])


def take_checkpoint(job: str, *, as_json: bool = False) -> int:
    """Take a checkpoint and print its id; return the exit code."""
    return _print_operation(job, "/checkpoints", {}, lambda done: f"checkpoint {done['checkpointId']}", as_json=as_json)


def rescale(job: str, parallelism: int, *, as_json: bool = False) -> int:
    """Change the parallelism of a job and print the new parallelism of its operators; return the exit code."""
    return _print_operation(job, f"/rescaling?parallelism={parallelism}", {}, _rescaled, method="PATCH", as_json=as_json)


def _rescaled(done: dict[str, Any]) -> str:
    if not done["checkpointId"]:
        return "the job has this parallelism already"
    rows: list[tuple[str, ...]] = [("operators", "before", "now", "moved key groups")]
    for vertex in done["vertices"]:
        groups, moved = vertex["key-groups"], vertex["moved-key-groups"]
        share = f"{moved} of {groups} ({moved / groups:.0%})" if groups else "-"
        rows.append((vertex["name"], str(vertex["before"]), str(vertex["parallelism"]), share))
    return "\n".join([f"the job goes on from checkpoint {done['checkpointId']}", *as_table(rows)])


def _print_operation(
    job: str, path: str, body: dict[str, Any], text: Callable[[dict[str, Any]], str], *, as_json: bool, method: str = "POST"
) -> int:
    def work() -> None:
        entry, done = _operate(job, method, path, body)
        click.echo(json.dumps({"job": entry.job_id, **done}) if as_json else text(done))

    return told(work)


def _operate(job: str, method: str, path: str, body: dict[str, Any]) -> tuple[JobEntry, dict[str, Any]]:
    """Start an operation of a job, wait for its end, and return the job and the result."""
    entry = _find(job)
    trigger = _ask(entry, method, path, body)["request-id"]
    began_s, question = time.monotonic(), f"/savepoints/{trigger}"
    show_s = began_s + _SHOW_AFTER_S
    while (answer := _ask(entry, "GET", question))["status"]["id"] != "COMPLETED":
        time.sleep(_ASK_EVERY_S)
        if time.monotonic() >= show_s:
            answer = _show_progress(entry, question, began_s)
            if answer["status"]["id"] == "COMPLETED":
                break  # # A stopped job does not answer again.
            show_s = time.monotonic() + _SHOW_EVERY_S
    operation: dict[str, Any] = answer["operation"]
    if "failure-cause" in operation:
        raise JobRefusedError(operation["failure-cause"]["stack-trace"])
    return entry, operation


def _show_progress(entry: JobEntry, question: str, began_s: float) -> dict[str, Any]:
    """Print the progress of an operation on standard error, unless it is complete; return the last answer.

    The first request makes the tasks report their progress, the second one reads it.
    """
    answer = _ask(entry, "GET", f"{question}?progress=true")
    if answer["status"]["id"] != "COMPLETED":
        time.sleep(_REPORT_S)
        answer = _ask(entry, "GET", f"{question}?progress=true")
    if (progress := answer.get("progress")) is not None:
        click.echo("\n".join(progress_lines(progress, time.monotonic() - began_s)), err=True)
    return answer


def _find(job: str) -> JobEntry:
    """Return the running job with that id, a unique prefix of its id, or its name."""
    running = running_jobs(registry_directory())
    found = [entry for entry in running if entry.job_id.startswith(job)] or [entry for entry in running if entry.name == job]
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(entry.job_id for entry in found)
        raise JobNotReachedError(f"{job!r} may be any of {ids}", hint="give the id, or more digits of it")
    known = ", ".join(f"{entry.job_id} ({entry.name})" for entry in running) or "none"
    raise JobNotReachedError(f"no job {job!r} runs here; there are: {known}", hint="wiesel list shows this user's jobs on this machine")


def _ask(entry: JobEntry, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    request = urllib.request.Request(
        f"{entry.address}/jobs/{entry.job_id}{path}",
        data=None if body is None else json.dumps(body).encode(),
        method=method,
        headers={"Authorization": f"Bearer {entry.token}", "Content-Type": "application/json"},
    )
    # # Do not use proxies of the environment: the token is for the job alone.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=_ANSWER_S) as reply:
            answer: dict[str, Any] = json.loads(reply.read())
            return answer
    except urllib.error.HTTPError as refused:
        raise JobRefusedError("; ".join(_errors(refused))) from refused
    except (OSError, ValueError) as lost:
        raise JobNotReachedError(
            f"the endpoint of job {entry.job_id} at {entry.address} does not answer: {lost}", hint="the job may just have ended"
        ) from lost


def _errors(refused: urllib.error.HTTPError) -> list[str]:
    try:
        return [str(e) for e in json.loads(refused.read())["errors"]]
    except (ValueError, KeyError, TypeError):
        return [f"HTTP {refused.code}"]
