"""Internal. An archive of the classes that Spark loads, which speeds up the start of a JVM (Java's application class-data sharing).

Half of the start of a driver's JVM is reading, verifying and compiling classes, the same ones each time. The archive (160 MB) has them
ready to be mapped. It is valid for one build of Java and one installation of PySpark, which are encoded in its name with its size, as a
truncated archive crashes the JVM; an otherwise unsuitable one is ignored by the JVM.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from wiesel.core.errors import ResourceError

__all__ = ["archive_options", "claim_automatic_attempt", "find_archive", "java_version_text", "make_archive"]

# A small job that covers what all jobs use: sources, exchanges, state, checkpoints and Arrow.
_PROGRAM = """
import sys
from wiesel.common import Configuration, Types
from wiesel.datastream import StreamExecutionEnvironment

conf = Configuration()
for key, value in {settings!r}.items():
    conf.set_string(key, value)
env = StreamExecutionEnvironment.get_execution_environment(conf)
env.set_parallelism(2)
numbers = env.from_collection(list(range(1000)), Types.LONG()).rebalance().map(lambda n: n, output_type=Types.LONG())
numbers.key_by(lambda n: n % 10, key_type=Types.LONG()).reduce(lambda a, b: a + b).rebalance().filter(lambda n: False).print()
env.execute("class archive")
"""
_LIMIT_S = 600
_NEXT_ATTEMPT_S = 24 * 3600
_WRITE = "-XX:ArchiveClassesAtExit"


def java_version_text(java: str) -> str:
    """Return the version output of a java."""
    return _version_text(os.path.realpath(java))


@cache
def _version_text(java: str) -> str:
    return subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr


def _name(java: str) -> str:
    facts = "\n".join((java_version_text(java), *_installed_pyspark()))
    return f"classes-{hashlib.sha256(facts.encode()).hexdigest()[:16]}"


@cache
def _installed_pyspark() -> tuple[str, str]:
    """Return version and folder of PySpark, without importing it."""
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        raise ResourceError("PySpark is not installed", hint="install wiesel with its dependencies")
    folder = Path(found.origin).parent
    version = re.search(r"__version__[^=]*=\s*['\"]([^'\"]+)", (folder / "version.py").read_text())
    return version.group(1) if version else "", str(folder)


def _places() -> list[Path]:
    """Return the candidate directories of an archive: that of the Python environment, and the user's if that is not writable."""
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return [Path(sys.prefix, "share", "wiesel"), Path(caches, "wiesel")]


def find_archive(java: str) -> Path | None:
    """Return the archive for a java, None if there is none."""
    found = (path for place in _places() for path in sorted(place.glob(f"{_name(java)}-*.jsa")))
    return next((path for path in found if path.stem.rpartition("-")[2] == str(path.stat().st_size)), None)


def archive_options(java: str, others: str) -> str:
    """Return the JVM options that enable the archive, if it exists and the other options do not write one."""
    archive = None if _WRITE in others else find_archive(java)
    # Silently disabled if unsuitable. The options are split at spaces.
    return f"-XX:SharedArchiveFile={archive} -Xshare:auto -Xlog:cds*=off" if archive is not None and " " not in str(archive) else ""


def claim_automatic_attempt(java: str) -> bool:
    """Return True to one process per day, if there is no archive but a directory for it; that process creates the archive.

    The claim is a file next to the archive, so that neither concurrent commands nor installations where it fails create one repeatedly.
    """
    place = _writable_place()
    if place is None or find_archive(java) is not None:
        return False
    claim = place / f"{_name(java)}.attempt"
    with suppress(OSError):
        if time.time() - claim.stat().st_mtime > _NEXT_ATTEMPT_S:
            claim.unlink()
    try:
        claim.touch(exist_ok=False)
    except OSError:
        return False
    return True


def make_archive(java: str) -> Path:
    """Run a small job whose JVM writes the archive when it ends; return its path.

    Raises:
        ResourceError: If the job failed, the JVM wrote no archive, or there is no directory for it.
    """
    place = _writable_place()
    if place is None:
        places = " and ".join(map(str, _places()))
        raise ResourceError(f"there is no directory for the archive: {places} cannot be written", hint="set XDG_CACHE_HOME to a directory")
    with tempfile.TemporaryDirectory(dir=place) as folder:
        fresh = Path(folder, "classes.jsa")
        settings = {
            "env.java.opts.all": f"-Xshare:auto {_WRITE}={fresh} -Xlog:cds*=off",
            "execution.checkpointing.interval": "200ms",
            "execution.checkpointing.dir": Path(folder, "checkpoints").as_uri(),
        }
        run = subprocess.run(
            [sys.executable, "-c", _PROGRAM.format(settings=settings)], capture_output=True, text=True, check=False, timeout=_LIMIT_S
        )
        if not fresh.is_file():
            said = (run.stderr or run.stdout).strip().splitlines()[-5:]
            raise ResourceError(f"no archive of classes was written: {' | '.join(said)}", hint="jobs run without it; they start later")
        return fresh.replace(place / f"{_name(java)}-{fresh.stat().st_size}.jsa")


def _writable_place() -> Path | None:
    return next((place for place in _places() if _can_be_written(place)), None)


def _can_be_written(place: Path) -> bool:
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(place, os.W_OK)
