"""Which files are Wiesel's, whose are libraries', and which are the user's."""

from __future__ import annotations

import json
import sysconfig
from pathlib import Path

import pytest

import wiesel
from wiesel.core.user_frames import is_engine, is_library

PACKAGE = Path(wiesel.__file__).parent


def test_files_are_told_apart() -> None:
    assert is_engine(wiesel.__file__) and not is_library("/jobs/job.py") and not is_engine("/jobs/job.py")
    assert is_library(json.__file__) and is_library("<frozen importlib._bootstrap>")


def test_a_folder_whose_name_begins_alike_is_the_users() -> None:
    assert not is_engine(f"{PACKAGE}_jobs/job.py") and not is_library(sysconfig.get_path("stdlib") + "_jobs/job.py")


@pytest.mark.parametrize("name", ["stdlib", "purelib"])
def test_libraries_are_known_behind_symbolic_links(name: str) -> None:
    assert is_library(str(Path(sysconfig.get_path(name)).resolve() / "some.py"))
