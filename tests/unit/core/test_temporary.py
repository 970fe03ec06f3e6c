"""Temporary directories: gone at the end of a process, and those of killed processes when another one makes some."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from wiesel.core.temporary import make_directory, remove_abandoned, remove_directory

_MAKER = """
import sys
from wiesel.core.temporary import make_directory
print(make_directory("wiesel-test-"), flush=True)
sys.stdin.read()
"""


def _maker(parent: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "TMPDIR": str(parent)}
    return subprocess.Popen([sys.executable, "-c", _MAKER], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _path(maker: subprocess.Popen[str]) -> Path:
    assert maker.stdout is not None
    return Path(maker.stdout.readline().strip())


def test_directories_of_a_killed_process_are_removed_and_those_of_a_living_one_stay(tmp_path: Path) -> None:
    with _maker(tmp_path) as living, _maker(tmp_path) as killed:
        paths = _path(living), _path(killed)
        (paths[1] / "sub").mkdir()
        (paths[1] / "sub" / "file").write_bytes(b"x")
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert paths[1].exists()
        remove_abandoned(str(tmp_path))
        assert list(tmp_path.iterdir()) == [paths[0]]
        with _maker(tmp_path) as other:
            own = _path(other)
            remove_abandoned(str(tmp_path))
            assert set(tmp_path.iterdir()) == {paths[0], own}
    assert list(tmp_path.iterdir()) == [], "both have ended well"


def test_nothing_else_is_removed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / ".owner").touch()
    parent = tmp_path / "parent"
    parent.mkdir()
    (parent / "wiesel-without-owner").mkdir()
    (parent / "wiesel-link").symlink_to(outside)
    (parent / "wiesel-linked-owner").mkdir()
    (parent / "wiesel-linked-owner" / ".owner").symlink_to(outside / ".owner")
    (parent / "other").mkdir()
    (parent / "other" / ".owner").touch()
    before = set(parent.rglob("*"))
    own = Path(make_directory("wiesel-test-", str(parent)))
    remove_abandoned(str(parent))
    assert set(parent.rglob("*")) - before == {own, own / ".owner"} and outside.exists()
    remove_directory(str(own))
    assert set(parent.rglob("*")) == before
