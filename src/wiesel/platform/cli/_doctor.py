"""Internal. Looks at the machine: is what jobs need there, and in a version that fits?"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import wiesel

__all__ = ["Finding", "examine", "java_major", "java_version", "versions"]

PYSPARK_NEEDED = "4.3.0"
PYTHON_NEEDED = ((3, 10), (3, 13))
JAVA_NEEDED = 17
JAVA_PACKAGE = "openjdk-17-jre-headless"
JAVA_TIMEOUT_S = 20


@dataclass(frozen=True)
class Finding:
    """Result of one check.

    Attributes:
        subject: Subject of the check.
        good: Whether jobs can run with it.
        text: Observation.
        remedy: Advice; empty if ``good``.
    """

    subject: str
    good: bool
    text: str
    remedy: str = ""


def versions() -> list[tuple[str, str]]:
    """Return the names and versions of Wiesel and its dependencies; nothing of it is imported."""
    return [
        ("wiesel", wiesel.__version__),
        ("python", platform.python_version()),
        ("pyspark", _installed("pyspark") or "not installed"),
        ("java", java_version() or "not found"),
    ]


def examine() -> list[Finding]:
    """Check Python, the workers' Python, Spark and Java."""
    return [_python(), _worker_python(), _spark(), _java()]


def java_version() -> str:
    """Return the version of the Java that Spark will start (``JAVA_HOME``, else from the ``PATH``), or an empty string if there is none."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if java is None:
        return ""
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=JAVA_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = re.search(r'version "([^"]+)"', told.stderr + told.stdout)
    return found.group(1) if found else ""


def java_major(version: str) -> int:
    """Return the feature release of a Java version: 17 of ``17.0.9``, 8 of ``1.8.0_392``; 0 if there is none."""
    found = re.match(r"(?:1\.)?(\d+)", version)
    return int(found.group(1)) if found else 0


def _python() -> Finding:
    low, high = PYTHON_NEEDED
    good = low <= sys.version_info[:2] <= high
    remedy = "" if good else f"use Python {_dotted(low)} to {_dotted(high)}"
    return Finding("Python", good, f"{platform.python_version()} ({sys.executable})", remedy)


def _worker_python() -> Finding:
    """Spark starts its workers with ``PYSPARK_PYTHON``; another minor version cannot unpickle the driver's functions."""
    chosen = os.environ.get("PYSPARK_PYTHON")
    if not chosen:
        return Finding("Python of the workers", True, "the same")
    try:
        told = subprocess.run(
            [chosen, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
            capture_output=True, text=True, timeout=JAVA_TIMEOUT_S, check=True,
        ).stdout.strip()  # fmt: skip
    except (OSError, subprocess.SubprocessError) as problem:
        return Finding("Python of the workers", False, f"{chosen} does not start ({problem})", "unset PYSPARK_PYTHON or correct it")
    mine = _dotted(sys.version_info[:2])
    remedy = "" if told == mine else f"PYSPARK_PYTHON must be a Python {mine} with the same packages; unset it to use this one"
    return Finding("Python of the workers", told == mine, f"{told} ({chosen})", remedy)


def _spark() -> Finding:
    found = _installed("pyspark")
    if found == PYSPARK_NEEDED:
        return Finding("PySpark", True, found)
    return Finding("PySpark", False, found or "not installed", f"pip install pyspark=={PYSPARK_NEEDED}")


def _java() -> Finding:
    where = f"JAVA_HOME={os.environ['JAVA_HOME']}" if os.environ.get("JAVA_HOME") else "on the PATH"
    found = java_version()
    if java_major(found) >= JAVA_NEEDED:
        return Finding("Java", True, f"{found} ({where})")
    remedy = f"Spark needs Java {JAVA_NEEDED} or newer: install the package {JAVA_PACKAGE}, or set JAVA_HOME to one"
    return Finding("Java", False, f"{found or 'none'} ({where})", remedy)


def _installed(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(str(part) for part in version)
