"""Internal. Registry of running jobs: a file per job, readable by its user only, as it has the token of the job's endpoint."""

from __future__ import annotations

import json
import os
import secrets
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from wiesel.core import options as opt
from wiesel.core.config import Configuration
from wiesel.core.errors import ConfigurationError
from wiesel.core.logs import get_logger
from wiesel.core.private_folders import make_private_folder, read_private_file, why_untrusted
from wiesel.core.processes import lives

ENVIRONMENT_VARIABLE = "WIESEL_REGISTRY_DIR"
_SNAPSHOT_KEY = "snapshots.key"
_log = get_logger("wiesel.registry")


@dataclass(frozen=True)
class JobEntry:
    """A running job.

    Attributes:
        job_id: Its id.
        name: Its name.
        pid: Process of its JobMaster.
        started_ms: Time of the start.
        address: URL of its endpoint.
        token: Token required in requests.
    """

    job_id: str
    name: str
    pid: int
    started_ms: int
    address: str
    token: str


def registry_directory(config: Configuration | None = None) -> Path:
    """Return the directory of the files: from the configuration, the environment, or the user's runtime directory.

    It does not exist before the first job, and in the temporary directory others may have created it: see ``require_private``.
    """
    configured = config.get(opt.REGISTRY_DIR) if config is not None else None
    given = configured or os.environ.get(ENVIRONMENT_VARIABLE)
    if given:
        return Path(given)
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    # After su the variable may still refer to that of another user.
    if runtime and os.path.isdir(runtime) and os.stat(runtime).st_uid == os.getuid():
        return Path(runtime) / "wiesel" / "jobs"
    return Path(tempfile.gettempdir()) / f"wiesel-{os.getuid()}" / "jobs"


def register(entry: JobEntry, directory: Path) -> Callable[[], None]:
    """Register a job; return the function that unregisters it.

    Raises:
        ConfigurationError: If the directory belongs to another user, or is writable by others.
    """
    make_private_folder(directory)
    require_private(directory)
    path, temporary = directory / f"{entry.job_id}.json", directory / f"{entry.job_id}.{secrets.token_hex(4)}.tmp"
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(asdict(entry), file)
        os.fchmod(file.fileno(), 0o600)
    temporary.replace(path)

    def unregister() -> None:
        # Another process may have continued the job under its id.
        found = _read(path)
        if found is not None and found.token == entry.token:
            path.unlink(missing_ok=True)

    return unregister


def require_private(directory: Path) -> None:
    """Reject a directory in which another user could have created files; no error if it does not exist.

    Raises:
        ConfigurationError: If it, or a component of its path, belongs to another user or is writable by others.
    """
    reason = why_untrusted(directory)
    if reason:
        raise ConfigurationError(
            f"the directory of running jobs {directory} cannot be trusted: {reason}",
            hint=f"set {opt.REGISTRY_DIR.key}, or {ENVIRONMENT_VARIABLE}, to a directory of your own",
        )


def running_jobs(directory: Path) -> list[JobEntry]:
    """Return the jobs running on this machine, oldest first; files of ended processes are removed.

    Raises:
        ConfigurationError: If another user could have created files in the directory.
    """
    require_private(directory)
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
        data = read_private_file(path)
        return None if data is None else JobEntry(**json.loads(data))
    except PermissionError as error:
        _log.warning("ignored file in the registry of jobs: %s", error)
        return None
    except (OSError, ValueError, TypeError):
        return None


def snapshot_key(config: Configuration | None = None, *, make: bool = False) -> bytes | None:
    """Return the key that signs the metadata of snapshots: that of the configured file, else of the registry directory.

    Args:
        config: The configuration.
        make: Create one in the registry directory if there is none.

    Raises:
        ConfigurationError: If the configured file is missing, empty, or accessible by other users.
    """
    configured = config.get(opt.SNAPSHOT_KEY_FILE) if config is not None else None
    if configured:
        return configured_snapshot_key(configured)
    directory = registry_directory(config)
    path = directory / _SNAPSHOT_KEY
    try:
        if make:
            make_private_folder(directory)
        require_private(directory)
        key = read_private_file(path, secret=True)
        if key is None and make:
            temporary = directory / f"{_SNAPSHOT_KEY}.{secrets.token_hex(4)}.tmp"
            with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(secrets.token_hex(32).encode())
            with suppress(FileExistsError):
                os.link(temporary, path)  # another job may be first
            temporary.unlink()
            key = read_private_file(path, secret=True)
    except (OSError, ConfigurationError) as error:
        _log.warning("snapshots are not signed: %s", error)
        return None
    return key or None


def configured_snapshot_key(path: str) -> bytes:
    """Return the key in a file.

    Raises:
        ConfigurationError: If it is missing, empty, or accessible by other users.
    """
    try:
        key = read_private_file(Path(path), secret=True)
    except OSError as error:
        raise ConfigurationError(
            f"the file with the key of snapshots cannot be used: {error}", hint="give a file of your own with mode 0600"
        ) from error
    if not key:
        raise ConfigurationError(f"the file of the key of snapshots {path} is missing or empty", hint="e.g. openssl rand -hex 32 > FILE")
    return key
