"""The directory of running jobs is trusted only if nobody else could have put files into it."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path

import pytest
from click.testing import CliRunner

from wiesel.core.errors import ConfigurationError
from wiesel.core.private_folders import why_untrusted
from wiesel.engine.registry import ENVIRONMENT_VARIABLE, JobEntry, register, registry_directory, running_jobs
from wiesel.platform.cli import main

NOBODY = 65534
FAKE = JobEntry("f" * 32, "fake", os.getpid(), 1, "http://127.0.0.1:9", "token")
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can give files to another user, who is the attacker here")


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory like the system's temporary one, without a runtime directory beside it."""
    directory = tmp_path / "tmp"
    directory.mkdir()
    directory.chmod(0o1777)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.delenv(ENVIRONMENT_VARIABLE, raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(directory))
    return directory


def spoofed() -> Path:
    """Make the directory with a fake job before its user does."""
    directory = registry_directory()
    directory.mkdir(parents=True)
    (directory / f"{FAKE.job_id}.json").write_text(json.dumps(asdict(FAKE)))
    return directory


def must_be_refused(directory: Path) -> None:
    """Check that no command takes the fake job for one, and that no job announces itself there."""
    for arguments in (["list"], ["cancel", "fake"], ["savepoint", "fake"], ["stop", "fake"], ["info", "fake"]):
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 1, arguments
        assert "cannot be trusted" in result.output and "127.0.0.1:9" not in result.output
    with pytest.raises(ConfigurationError, match="cannot be trusted"):
        register(FAKE, directory)


def test_own_directories_are_made_closed_and_trusted(temporary: Path) -> None:
    before = os.umask(0)
    try:
        unregister = register(FAKE, registry_directory())
    finally:
        os.umask(before)
    assert running_jobs(registry_directory()) == [FAKE]
    (user,) = temporary.iterdir()
    modes = {path.name: path.stat().st_mode & 0o777 for path in (user, *user.rglob("*"))}
    assert modes == {user.name: 0o700, "jobs": 0o700, f"{FAKE.job_id}.json": 0o600}
    unregister()


@needs_root
@pytest.mark.parametrize("of_others", [("jobs",), (".",), (".", "jobs")], ids=str)
def test_a_directory_of_another_user_is_refused(temporary: Path, of_others: tuple[str, ...]) -> None:
    directory = spoofed()
    for name in of_others:
        os.chown(directory.parent / name, NOBODY, NOBODY)
    must_be_refused(directory)


@pytest.mark.parametrize("open_to_others", ["jobs", "."])
@pytest.mark.parametrize("mode", [0o777, 0o707, 0o1777])
def test_a_directory_that_others_may_write_to_is_refused(temporary: Path, open_to_others: str, mode: int) -> None:
    directory = spoofed()
    (directory.parent / open_to_others).chmod(mode)
    if mode == 0o1777 and open_to_others == ".":
        assert why_untrusted(directory) == ""  # as the temporary directory itself
        return
    must_be_refused(directory)


@needs_root
def test_a_symbolic_link_of_another_user_is_refused(temporary: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir(mode=0o700)
    directory = registry_directory()
    directory.parent.symlink_to(mine)
    os.lchown(directory.parent, NOBODY, NOBODY)
    (mine / "jobs").mkdir(mode=0o700)
    must_be_refused(directory)


@needs_root
def test_a_file_of_another_user_is_no_job(temporary: Path) -> None:
    directory = registry_directory()
    register(FAKE, directory)
    os.chown(directory / f"{FAKE.job_id}.json", NOBODY, NOBODY)
    assert running_jobs(directory) == []


def test_a_link_to_a_file_is_no_job(temporary: Path, tmp_path: Path) -> None:
    directory = registry_directory()
    register(FAKE, directory)
    (directory / f"{FAKE.job_id}.json").rename(tmp_path / "elsewhere")
    (directory / f"{FAKE.job_id}.json").symlink_to(tmp_path / "elsewhere")
    assert running_jobs(directory) == []


@needs_root
def test_a_runtime_directory_of_another_user_is_not_used(temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    assert registry_directory().is_relative_to(runtime)
    os.chown(runtime, NOBODY, NOBODY)
    assert registry_directory().is_relative_to(temporary)
