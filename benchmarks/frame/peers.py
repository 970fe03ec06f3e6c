"""The peers' own virtual environments, kept under ``.cache`` in the repository and never mixed with Wiesel's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from frame.case import PYFLINK, SPARK

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache" / "benchmarks"


class PeerMissing(Exception):
    """A peer cannot be installed here; its runs are left out, and said to be."""


@dataclass(frozen=True)
class Peer:
    """A pinned installation.

    Attributes:
        folder: Name of its environment below the cache.
        requirements: What pip installs.
        pythons: Versions it runs on, the preferred one first.
        override: Environment variable that names a Python which has it all already.
    """

    folder: str
    requirements: tuple[str, ...]
    pythons: tuple[str, ...]
    override: str


PEERS = {
    PYFLINK: Peer("flink-2.3.0", ("apache-flink==2.3.0", "setuptools<81"), ("3.11", "3.12", "3.10", "3.9"), "WIESEL_BENCH_FLINK_PYTHON"),
    SPARK: Peer(
        "spark-4.3.0",
        ("pyspark==4.3.0", "pandas>=2.2,<3", "pyarrow>=18", "protobuf", "grpcio", "grpcio-status", "googleapis-common-protos"),
        ("3.11", "3.12", "3.13", "3.10"),
        "WIESEL_BENCH_SPARK_PYTHON",
    ),
}


def python_of(engine: str) -> Path:
    """Return the Python of a peer's environment, which is made first if need be.

    Raises:
        PeerMissing: it cannot be made.
    """
    peer = PEERS[engine]
    given = os.environ.get(peer.override)
    if given:
        # Not resolved: a venv's python is a link, and only its own path leads to the venv.
        if not Path(given).exists():
            raise PeerMissing(f"{peer.override} names {given}, which does not exist")
        return Path(given)
    home = CACHE / peer.folder
    python = home / "bin" / "python"
    stamp = home / ".complete"
    if not (stamp.exists() and stamp.read_text() == "\n".join(peer.requirements)):
        _make(peer, home, python)
        stamp.write_text("\n".join(peer.requirements))
    return python


def _make(peer: Peer, home: Path, python: Path) -> None:
    base = _find_python(peer)
    print(f"setting up {home.name} (once; some minutes) ...", file=sys.stderr, flush=True)
    shutil.rmtree(home, ignore_errors=True)
    home.parent.mkdir(parents=True, exist_ok=True)
    for command in ([base, "-m", "venv", str(home)], [str(python), "-m", "pip", "install", "--quiet", "--no-input", *peer.requirements]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            tail = (done.stderr or done.stdout).strip().splitlines()[-3:]
            raise PeerMissing(f"{home.name}: `{' '.join(command)}` failed: {' '.join(tail)}")


def _find_python(peer: Peer) -> str:
    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    for version in peer.pythons:
        name = sys.executable if version == here else f"python{version}"
        probe = f"import sys, venv, ensurepip; sys.exit('%d.%d' % sys.version_info[:2] != '{version}')"
        try:
            if subprocess.run([name, "-c", probe], capture_output=True, check=False).returncode == 0:
                return name
        except FileNotFoundError:
            continue
    raise PeerMissing(
        f"{peer.folder} needs Python {', '.join(peer.pythons)} with venv; set {peer.override} to a Python that has it installed"
    )


def version_of(python: Path, package: str) -> str:
    """Return the version of a package installed beside a Python."""
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    done = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"
