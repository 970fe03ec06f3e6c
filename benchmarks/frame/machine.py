"""Where and what figures were taken on."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import re
import subprocess
from pathlib import Path

from frame.case import PYFLINK, SPARK
from frame.peers import ROOT, PeerMissing, python_of, version_of

PACKAGES = {PYFLINK: "apache-flink", SPARK: "pyspark"}


def describe(engines: set[str]) -> dict[str, object]:
    """Return the machine, the versions and the state of the repository."""
    return {
        "time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "commit": _git("rev-parse", "HEAD"),
        "modified": bool(_git("status", "--porcelain", "--", "src", "benchmarks")),
        "machine": {
            "cpu": _first(r"model name\s*:\s*(.+)", "/proc/cpuinfo"),
            "cores": len(os.sched_getaffinity(0)),
            "memory_mb": int(_first(r"MemTotal:\s*(\d+)", "/proc/meminfo") or 0) // 1024,
            "system": f"{platform.system()} {platform.release()}",
        },
        "versions": _versions(engines),
    }


def _versions(engines: set[str]) -> dict[str, str]:
    found = {"python": platform.python_version(), "java": _java()}
    for package in ("wiesel", "pyspark"):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "from the checkout"
    for engine in sorted(engines & PACKAGES.keys()):
        try:
            found[f"{PACKAGES[engine]} (peer)"] = version_of(python_of(engine), PACKAGES[engine])
        except PeerMissing as missing:
            found[f"{PACKAGES[engine]} (peer)"] = f"missing: {missing}"
    return found


def _git(*words: str) -> str:
    try:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    except FileNotFoundError:
        return ""


def _java() -> str:
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if os.environ.get("JAVA_HOME") else Path("java")
    text = subprocess.run([str(java), "-version"], capture_output=True, text=True, check=False).stderr
    match = re.search(r'version "([^"]+)"', text)
    return match.group(1) if match else "unknown"


def _first(pattern: str, path: str) -> str:
    match = re.search(pattern, Path(path).read_text())
    return match.group(1) if match else ""
