"""Checkpoint storage by address: what is tested without a server. S3 and HDFS: tests/servers."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from tests.unit.checkpoint.file_io_contract import keeps_all
from wiesel.checkpoint.file_io import open_root
from wiesel.checkpoint.store import resolve_restore_path
from wiesel.core.errors import CheckpointStorageError


def test_local_directories(tmp_path: Path) -> None:
    keeps_all(str(tmp_path), steps=60, rounds=20, somebody=True)


def test_file_addresses_with_signs(tmp_path: Path) -> None:
    open_root(f"file://{tmp_path}/with%20space").write("x", [b"1"])
    assert (tmp_path / "with space" / "x").read_bytes() == b"1"


def test_fsspec_filesystems() -> None:
    keeps_all(f"memory://{uuid4().hex}", steps=60, rounds=20, somebody=False)


def test_databases(tmp_path: Path) -> None:
    keeps_all(f"sqlite:///{tmp_path}/checkpoints.db", steps=40, rounds=5, somebody=True)
    assert [p.name for p in tmp_path.iterdir()] == ["checkpoints.db"]


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("sqlite:///relative.db", "looks like sqlite:////absolute"),
        ("sqlite:////some/directory", "looks like sqlite:////absolute"),
        ("postgresql://host", "looks like postgresql://user@host/database"),
        ("nosuch://bucket/x", "nosuch://"),
        ("postgresql+nosuchdriver://host/database", "driver"),
    ],
)
def test_addresses_that_mean_nothing(address: str, message: str) -> None:
    with pytest.raises(CheckpointStorageError, match=message):
        open_root(address)


@pytest.mark.parametrize(
    ("address", "module", "extra"),
    [
        ("s3://bucket/x", "s3fs", r"wiesel\[s3\]"),
        ("webhdfs://user@host:9870/x", "requests", r"wiesel\[hdfs\]"),
        ("sqlite:////x.db", "sqlalchemy", r"wiesel\[database\]"),
    ],
)
def test_what_is_missing_is_named(address: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.import_module("fsspec.registry"), "_registry", {})
    for loaded in [m for m in sys.modules if m.partition(".")[0] == module or m == "fsspec.implementations.webhdfs"]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(CheckpointStorageError) as caught:
        open_root(address)
    assert caught.match(extra)


def test_hdfs_without_its_library_names_the_way_that_needs_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("HADOOP_HOME", "ARROW_LIBHDFS_DIR", "CLASSPATH"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(CheckpointStorageError, match="webhdfs://user@namenode:9870"):
        open_root("hdfs://nowhere:8020/x")


def test_a_database_that_does_not_answer_is_told_without_the_password() -> None:
    root = open_root("sqlite:////nowhere/at/all/checkpoints.db")
    with pytest.raises(CheckpointStorageError, match="unable to open"):
        root.exists("x")


@pytest.mark.parametrize("inside", [".", "job", "job/chk-7"])
@pytest.mark.parametrize("place", ["job/chk-7", "job/chk-7/_metadata", "job"])
def test_relative_paths_of_checkpoints_have_their_whole_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: str, place: str
) -> None:
    (tmp_path / "job" / "chk-7").mkdir(parents=True)
    (tmp_path / "job" / "chk-7" / "_metadata").touch()
    monkeypatch.chdir(tmp_path / inside)
    path = os.path.relpath(tmp_path / place)
    assert resolve_restore_path(path) == (str(tmp_path), "job", None if place == "job" else 7)
