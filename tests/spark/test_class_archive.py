"""The archive of classes from which the driver's JVM starts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from wiesel.core.config import Configuration
from wiesel.core.errors import ResourceError
from wiesel.engine.spark import class_archive
from wiesel.engine.spark.driver_jvm import find_java

# Tells whether the JVM of a session has mapped the archive, by the kernel's list of its mappings.
_PROGRAM = """
import sys

sys.prefix = {prefix!r}

from wiesel.core.config import Configuration
from wiesel.engine.spark.session import spark_session

session = spark_session(Configuration(), 1)
pid = session.sparkContext._jvm.ProcessHandle.current().pid()
print("mapped" if ".jsa" in open(f"/proc/{{pid}}/maps").read().replace("classes.jsa", "") else "not mapped")
"""


_NOWHERE = "/proc/none"


def run(folder: Path) -> str:
    """Run the program where only an archive in the folder can be found."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder)}
    command = [sys.executable, "-c", _PROGRAM.format(prefix=_NOWHERE)]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.strip().splitlines()[-1]


def test_an_archive_is_made_used_and_passed_over_when_it_is_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = find_java(Configuration())
    monkeypatch.setattr(sys, "prefix", _NOWHERE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert class_archive.find_archive(java) is None and class_archive.archive_options(java, "") == ""
    assert run(tmp_path) == "not mapped"

    made = class_archive.make_archive(java)
    assert made.parent == tmp_path / "wiesel" and class_archive.find_archive(java) == made
    assert run(tmp_path) == "mapped"

    whole = made.read_bytes()
    made.write_bytes(whole[: len(whole) // 2])
    assert class_archive.find_archive(java) is None, "a JVM would crash over it"
    made.write_bytes(b"x" * len(whole))
    assert run(tmp_path) == "not mapped"


def test_where_there_is_no_place_the_error_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setattr(sys, "prefix", str(file))
    monkeypatch.setenv("XDG_CACHE_HOME", str(file))
    with pytest.raises(ResourceError, match="there is no directory for the archive"):
        class_archive.make_archive(find_java(Configuration()))
