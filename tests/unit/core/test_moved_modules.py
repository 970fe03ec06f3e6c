from __future__ import annotations

import importlib.util
import pickle
import sys
from pathlib import Path

import pytest

import wiesel
from wiesel.core import moved_modules
from wiesel.core.moved_modules import MOVED
from wiesel.types.row import Row

SOURCES = Path(wiesel.__file__).parent


def is_module(name: str) -> bool:
    path = SOURCES.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


@pytest.fixture
def former_row(monkeypatch: pytest.MonkeyPatch) -> bytes:
    """Return the pickle of a row, written while the module of its class had another name."""
    monkeypatch.setitem(moved_modules.MOVED, "types.former_row", "types.row")
    written = pickle.dumps(Row(1, "a"), 0)
    assert b"wiesel.types.row\n" in written
    yield written.replace(b"wiesel.types.row\n", b"wiesel.types.former_row\n")
    sys.modules.pop("wiesel.types.former_row", None)


def test_a_pickle_with_a_former_name_is_read(former_row: bytes) -> None:
    read = pickle.loads(former_row)
    assert type(read) is Row and read == Row(1, "a")
    assert sys.modules["wiesel.types.former_row"] is sys.modules["wiesel.types.row"]
    assert sys.modules["wiesel.types.row"].__name__ == "wiesel.types.row" == sys.modules["wiesel.types.row"].__spec__.name


def test_other_names_are_not_found() -> None:
    assert importlib.util.find_spec("wiesel.types.never_there") is None


def test_former_names_are_free_and_lead_to_modules() -> None:
    assert not [name for name in MOVED if is_module(name)], "a module that exists hides its former name"
    assert not [name for name in MOVED.values() if not is_module(name)]
