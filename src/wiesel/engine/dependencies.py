"""Internal. Dependencies of workers: Python files, requirements, archives and cached files.

The driver packs all of a job into one zip file, named by its contents. Each machine unpacks it once, and downloads the cached files of
remote file systems, which it only references; each task activates it while it runs: modules on the import path, archives in the working
directory, cached files by name.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit
from uuid import uuid4

from wiesel.connectors.filesystem.file_systems import RemoteFiles, filesystem_for, is_remote
from wiesel.core import options as opt
from wiesel.core.config import Configuration
from wiesel.core.errors import ConfigurationError, ConnectorError, ResourceError
from wiesel.core.logs import get_logger
from wiesel.core.temporary import make_directory
from wiesel.runtime.distributed_cache import set_cached_files

__all__ = ["Dependencies", "absolute", "dependencies_of", "in_place", "pack", "unpack", "use_in_this_process"]

_log = get_logger("wiesel.dependencies")
_MANIFEST = "wiesel-dependencies.json"
_ARCHIVES = "archives"
_PACKAGES = "packages"


@dataclass(frozen=True)
class Dependencies:
    """Paths on the driver's machine."""

    python_files: tuple[str, ...] = ()
    archives: tuple[tuple[str, str], ...] = ()
    """Path, and the name of the target directory."""
    requirements: str | None = None
    packages: str | None = None
    cached: dict[str, tuple[str, bool]] = field(default_factory=dict)
    """Path, or URI of a remote file system, and the executable flag, by name."""
    python_path: tuple[str, ...] = ()
    """Directories of the workers' machines."""
    executable: str | None = None
    """The interpreter of the workers, on their machines."""

    def __bool__(self) -> bool:
        return bool(self.python_files or self.archives or self.requirements or self.cached or self.python_path)


def dependencies_of(config: Configuration) -> Dependencies:
    """Return the dependencies in the options of a job.

    Raises:
        ConfigurationError: If a path does not exist, or a URI cannot be reached.
    """
    requirements, _, packages = (config.get(opt.PYTHON_REQUIREMENTS) or "").partition("#")
    archives = [entry.partition("#") for entry in _entries(config.get(opt.PYTHON_ARCHIVES))]
    return Dependencies(
        tuple(_existing(path, opt.PYTHON_FILES.key) for path in _entries(config.get(opt.PYTHON_FILES))),
        tuple((_existing(path, opt.PYTHON_ARCHIVES.key), target or os.path.basename(path)) for path, _, target in archives),
        _existing(requirements, opt.PYTHON_REQUIREMENTS.key) if requirements else None,
        _existing(packages, opt.PYTHON_REQUIREMENTS.key) if packages else None,
        dict(_cached(entry) for entry in config.get(opt.CACHED_FILES) or ()),
        tuple(place for place in (config.get(opt.PYTHONPATH) or "").split(os.pathsep) if place),
        config.get(opt.PYTHON_EXECUTABLE),
    )


def _entries(text: str | None) -> list[str]:
    return [entry.strip() for entry in (text or "").split(",") if entry.strip()]


def _cached(entry: str) -> tuple[str, tuple[str, bool]]:
    parts = dict(part.partition(":")[::2] for part in entry.split(","))
    if not parts.get("name") or not parts.get("path"):
        raise ConfigurationError(
            f"{opt.CACHED_FILES.key}: {entry!r} has no name or no path", hint="write name:n1,path:p1 and ';' between entries"
        )
    path = parts["path"]
    found = _remote(path) if is_remote(path) else _existing(path, opt.CACHED_FILES.key)
    return parts["name"], (found, parts.get("executable") == "true")


def _remote(uri: str) -> str:
    """Check and return the URI of a cached file; an error here is better than one in each worker."""
    files, path = _files_of(uri)
    try:
        there = files.exists(path)
    except Exception as error:  # each file system has errors of its own
        raise ConfigurationError(
            f"{opt.CACHED_FILES.key}: {uri!r} cannot be reached: {error}", hint="check the address, and who may read it"
        ) from error
    if not there:
        raise ConfigurationError(f"{opt.CACHED_FILES.key}: there is no {uri!r}", hint="check the address")
    return uri


def _files_of(uri: str) -> tuple[RemoteFiles, str]:
    try:
        files, path = filesystem_for(uri)
    except ConnectorError as error:
        raise ConfigurationError(f"{opt.CACHED_FILES.key}: {error.message}", hint=error.hint) from error
    return cast(RemoteFiles, files), path


def _existing(path: str, key: str) -> str:
    plain = path.removeprefix("file://")
    if not os.path.exists(plain):
        raise ConfigurationError(f"{key}: there is no {path!r} on this machine", hint="give the path of a local file or directory")
    return os.path.abspath(plain)


def absolute(path: str | None) -> str | None:
    """Return the absolute form of a local path; URIs and None unchanged."""
    return path if path is None or "://" in path else os.path.abspath(path)


def pack(wanted: Dependencies, directory: str) -> str:
    """Write the zip file into a directory and return its path; its name depends on the contents."""
    handle, temporary = tempfile.mkstemp(dir=directory)
    with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        manifest = {
            "python": [_add(archive, path, f"python/{i}") for i, path in enumerate(wanted.python_files)],
            "archives": [[_add(archive, path, f"sources/{i}"), target] for i, (path, target) in enumerate(wanted.archives)],
            "python path": list(wanted.python_path),
            "requirements": wanted.requirements and _add(archive, wanted.requirements, "requirements"),
            "packages": wanted.packages and _add(archive, wanted.packages, "sources/packages"),
            "cached": {
                name: [*_add_cached(archive, path, f"cached/{i}"), executable]
                for i, (name, (path, executable)) in enumerate(wanted.cached.items())
            },
        }
        if any(is_remote(path) for path, _ in wanted.cached.values()):
            # They may change at their URI, so each job downloads them again.
            manifest["only this job"] = uuid4().hex
        _write(archive, _MANIFEST, json.dumps(manifest, sort_keys=True).encode())
    path = os.path.join(directory, f"wiesel-{_digest(temporary)}.zip")
    os.replace(temporary, path)
    return path


def _digest(path: str) -> str:
    sha = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            sha.update(block)
    return sha.hexdigest()[:24]


def _add(archive: zipfile.ZipFile, path: str, folder: str) -> str:
    """Add a file or a directory with all in it; return its name in the archive."""
    name = f"{folder}/{os.path.basename(path)}"
    if not os.path.isdir(path):
        _write(archive, name, Path(path).read_bytes(), os.stat(path).st_mode)
        return name
    _write(archive, name + "/", b"")
    for file in sorted(Path(path).rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            _write(archive, f"{name}/{file.relative_to(path).as_posix()}", file.read_bytes(), file.stat().st_mode)
    return name


def _add_cached(archive: zipfile.ZipFile, path: str, folder: str) -> tuple[str, str | None]:
    """Add a cached file; return its unpacked name, and the URI for the download, None if it is in the archive."""
    if not is_remote(path):
        return _add(archive, path, folder), None
    return f"{folder}/{_last_part(path)}", path


def _last_part(uri: str) -> str:
    return urlsplit(uri).path.rstrip("/").rsplit("/", 1)[-1] or "file"


def _write(archive: zipfile.ZipFile, name: str, data: bytes, mode: int = 0o644) -> None:
    # No dates: equal contents have equal bytes.
    info = zipfile.ZipInfo(name)
    info.external_attr = (mode & 0xFFFF) << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, data)


def unpack(bundle: str) -> str:
    """Unpack a zip file of :func:`pack` next to it, once for all processes, and return the directory.

    Raises:
        ResourceError: If the requirements could not be installed, or an archive is of an unknown kind.
    """
    target = bundle.removesuffix(".zip") + ".d"
    with open(bundle + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(target):
            temporary = tempfile.mkdtemp(dir=os.path.dirname(bundle))
            try:
                _unpack_into(bundle, temporary)
            except BaseException:
                shutil.rmtree(temporary, ignore_errors=True)
                raise
            os.replace(temporary, target)
    return target


def _unpack_into(bundle: str, root: str) -> None:
    _unzip(bundle, root)
    manifest = _manifest(root)
    os.mkdir(os.path.join(root, _ARCHIVES))
    for source, target in manifest["archives"]:
        _unpack_archive(os.path.join(root, source), os.path.join(root, _ARCHIVES, target))
    for path, uri, executable in manifest["cached"].values():
        place = os.path.join(root, path)
        if uri is not None:
            _bring(uri, place)
        if executable:
            os.chmod(place, os.stat(place).st_mode | stat.S_IXUSR)
    if manifest["requirements"]:
        packages = manifest["packages"]
        _install(os.path.join(root, manifest["requirements"]), packages and os.path.join(root, packages), os.path.join(root, _PACKAGES))


def _bring(uri: str, place: str) -> None:
    """Copy a file or directory of a remote file system to a local path."""
    files, path = _files_of(uri)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    try:
        files.download(path, place)
    except Exception as error:  # each file system has errors of its own
        raise ResourceError(
            f"the cached file {uri!r} could not be brought to {socket.gethostname()}: {error}", hint="all machines must be able to read it"
        ) from error


def _unzip(path: str, target: str) -> None:
    """Unpack with the permissions of the files, which ``extractall`` ignores."""
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            place = archive.extract(info, target)
            mode = info.external_attr >> 16 & 0o777
            if mode and not info.is_dir():
                os.chmod(place, mode | stat.S_IRUSR)


def _unpack_archive(path: str, target: str) -> None:
    try:
        if zipfile.is_zipfile(path):
            _unzip(path, target)
        elif sys.version_info >= (3, 12):
            shutil.unpack_archive(path, target, filter="data")
        else:
            shutil.unpack_archive(path, target)
    except (shutil.ReadError, zipfile.BadZipFile) as error:
        raise ResourceError(
            f"the archive {os.path.basename(path)} cannot be unpacked: {error}", hint="give a .zip, .tar, .tar.gz, .tar.bz2 or .tar.xz file"
        ) from error


def _install(requirements: str, packages: str | None, target: str) -> None:
    source = ["--no-index", "--find-links", packages] if packages else []
    command = [sys.executable, "-m", "pip", "install", "--no-input", "--disable-pip-version-check", "-r", requirements, "--target", target]
    run = subprocess.run([*command, *source], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise ResourceError(
            f"pip could not install the requirements of the job on {socket.gethostname()}: {_said_by_pip(run.stderr)}",
            hint="correct the requirements file, give set_python_requirements a directory with the packages, "
            "or install them on the workers",
        )


def _said_by_pip(output: str) -> str:
    """Return the errors of pip, which follow its warnings; the end of its output if there are none."""
    errors = [line.removeprefix("ERROR: ") for line in output.splitlines() if line.startswith("ERROR: ")]
    return "\n  ".join(errors) or " ".join(output.split())[-600:]


def _manifest(root: str) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads(Path(root, _MANIFEST).read_text())
    return manifest


@contextlib.contextmanager
def in_place(root: str | None) -> Iterator[None]:
    """Activate the contents unpacked to ``root`` in this process, and revert it at the end, as Spark reuses its workers."""
    if root is None:
        yield
        return
    manifest = _manifest(root)
    path, folder, environment = list(sys.path), os.getcwd(), dict(os.environ)
    cached = set_cached_files({name: os.path.join(root, place) for name, (place, _, _) in manifest["cached"].items()})
    front = [_import_place(os.path.join(root, name)) for name in manifest["python"]]
    front.extend(manifest["python path"])
    if manifest["requirements"]:
        front.append(os.path.join(root, _PACKAGES))
        os.environ["PATH"] = os.pathsep.join([os.path.join(root, _PACKAGES, "bin"), environment.get("PATH", "")])
    sys.path[:0] = front
    # Programs started by functions find the modules, too.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [*front, environment.get("PYTHONPATH", "")]))
    if manifest["archives"]:
        os.chdir(os.path.join(root, _ARCHIVES))
    try:
        yield
    finally:
        os.chdir(folder)
        sys.path[:] = path
        os.environ.clear()
        os.environ.update(environment)
        set_cached_files(cached)
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None) or "").startswith(root + os.sep):
                del sys.modules[name]


def use_in_this_process(wanted: Dependencies) -> None:
    """Activate the dependencies for tasks of the local engine, which run in the program's process.

    Nothing is installed and the working directory stays: both would change the program itself.
    """
    if wanted.requirements or wanted.archives or wanted.executable:
        _log.warning(
            "requirements, archives and the Python executable have no effect on the local engine: functions run in the program's process"
        )
    front = [*map(_import_place, wanted.python_files), *wanted.python_path]
    sys.path[:0] = [place for place in front if place not in sys.path]
    set_cached_files({name: _in_this_process(path) for name, (path, _) in wanted.cached.items()})


def _in_this_process(path: str) -> str:
    if not is_remote(path):
        return path
    place = os.path.join(make_directory("wiesel-cached-"), _last_part(path))
    _bring(path, place)
    return place


def _import_place(path: str) -> str:
    return os.path.dirname(path) if path.endswith(".py") else path
