"""Internal. Where running jobs are found: a file per job, which only its user may read, as it holds the token of the job's endpoint."""

from __future__ import annotations

import json
import os
import secrets
import stat
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from wiesel.core import options as opt
from wiesel.core.config import Configuration
from wiesel.core.errors import ConfigurationError
from wiesel.core.processes import lives

ENVIRONMENT_VARIABLE = "WIESEL_REGISTRY_DIR"


@dataclass(frozen=True)
class JobEntry:
    """A running job.

    Attributes:
        job_id: Its id.
        name: Its name.
        pid: Process of its JobMaster.
        started_ms: When it was started.
        address: URL of its endpoint.
        token: What requests have to carry.
    """

    job_id: str
    name: str
    pid: int
    started_ms: int
    address: str
    token: str


def registry_directory(config: Configuration | None = None) -> Path:
    """Return the directory of the files: as configured, or of the environment, or the user's own for things that run."""
    configured = config.get(opt.REGISTRY_DIR) if config is not None else None
    given = configured or os.environ.get(ENVIRONMENT_VARIABLE)
    if given:
        return Path(given)
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and os.path.isdir(runtime):
        return Path(runtime) / "wiesel" / "jobs"
    return Path(tempfile.gettempdir()) / f"wiesel-{os.getuid()}" / "jobs"


def register(entry: JobEntry, directory: Path) -> Callable[[], None]:
    """Make a job known; return what makes it unknown again.

    Raises:
        ConfigurationError: the directory belongs to somebody else, or others may write to it.
    """
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    _check_private(directory)
    path, temporary = directory / f"{entry.job_id}.json", directory / f"{entry.job_id}.{secrets.token_hex(4)}.tmp"
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(asdict(entry), file)
    temporary.replace(path)

    def unregister() -> None:
        # Another process may have gone on with the job under its id.
        found = _read(path)
        if found is not None and found.token == entry.token:
            path.unlink(missing_ok=True)

    return unregister


def _check_private(directory: Path) -> None:
    facts = directory.stat()
    if facts.st_uid != os.getuid() or facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise ConfigurationError(
            f"the directory of running jobs {directory} belongs to another user or can be written by others",
            hint=f"set wiesel.registry.dir, or {ENVIRONMENT_VARIABLE}, to a directory of your own",
        )


def running_jobs(directory: Path) -> list[JobEntry]:
    """Return the jobs that run on this machine, oldest first; files of processes that are gone are removed."""
    found = []
    for path in sorted(directory.glob("*.json")) if directory.is_dir() else ():
        entry = _read(path)
        if entry is None:
            continue
        if lives(entry.pid):
            found.append(entry)
        else:
            path.unlink(missing_ok=True)
    return sorted(found, key=lambda entry: (entry.started_ms, entry.job_id))


def _read(path: Path) -> JobEntry | None:
    try:
        return JobEntry(**json.loads(path.read_text()))
    except (OSError, ValueError, TypeError):
        return None
