"""Internal. ``wiesel run -d``: a program in the background, whose output goes to a file."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
import time
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import click

from wiesel.core.config import Configuration
from wiesel.platform.cli._program import EXIT_INTERRUPTED, Submission, run_program

__all__ = ["run_detached", "run_from_input"]

_COMMAND = "from wiesel.platform.cli._detached import run_from_input; run_from_input()"
_SUBMITTED = re.compile(r"^Job has been submitted with JobID (\w+)$", re.MULTILINE)
_LOOK_EVERY_S = 0.1
_LAST_LINES = 20


def run_detached(submission: Submission, log: str | None, *, as_json: bool) -> int:
    """Start the program in a separate session and return when its first job is submitted: 0, or the program's code if it failed.

    Args:
        submission: The program.
        log: The file of its output; one with the program's name and the time in the working directory if it is None.
        as_json: Print JSON.
    """
    Configuration.from_dict(submission.options)
    name = log or f"{submission.program.stem}-{datetime.now():%Y%m%d-%H%M%S}.log"
    path = Path(name).absolute()
    with open(path, "wb", opener=_only_for_this_user) as output:
        child = subprocess.Popen(
            [sys.executable, "-c", _COMMAND],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    assert child.stdin is not None  # noqa: S101 - it was asked for
    with child.stdin:
        child.stdin.write(json.dumps({**asdict(submission), "program": str(submission.program)}).encode())
    try:
        while (found := _job_in(path)) is None and child.poll() is None:
            time.sleep(_LOOK_EVERY_S)
    except KeyboardInterrupt:
        click.echo(f"process {child.pid} goes on; its output is in {path}", err=True)
        return EXIT_INTERRUPTED
    # It may have ended just after it was submitted.
    found = found or _job_in(path)
    if child.poll():
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()[-_LAST_LINES:]
        lines.append(f"the program ended with {child.returncode}; all of its output is in {path}")
        click.echo("\n".join(lines), err=True)
        return int(child.returncode) if child.returncode > 0 else 1
    if as_json:
        click.echo(json.dumps({"job": found, "process": child.pid, "log": str(path)}))
    elif found is None:
        click.echo(f"the program has ended without a job; its output is in {path}")
    else:
        click.echo(f"Job has been submitted with JobID {found}\n  process {child.pid}, output in {path}")
        click.echo(f"  wiesel info {found[:8]}, wiesel rescale {found[:8]} PARALLELISM, wiesel stop {found[:8]}")
    return 0


def _only_for_this_user(path: str, flags: int) -> int:
    """Open a file that nobody else can read, as what a program prints may hold secrets, whatever the umask and if it was there before."""
    file = os.open(path, flags, 0o600)
    if stat.S_ISREG(os.fstat(file).st_mode):
        os.fchmod(file, 0o600)
    return file


def _job_in(path: Path) -> str | None:
    found = _SUBMITTED.search(path.read_text(encoding="utf-8", errors="replace"))
    return None if found is None else found[1]


def run_from_input() -> None:
    """Run the program whose submission is on the standard input: options may hold secrets, and a command line is everybody's to read."""
    given = json.loads(sys.stdin.read())
    raise SystemExit(run_program(Submission(**{**given, "program": Path(given["program"])})))
