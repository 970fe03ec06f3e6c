"""Programs written for PyFlink find its modules, classes, methods, parameters and defaults; what they do not find is listed by name.

``pyflink_names.jsonl`` is what ``record.py`` found in PyFlink. ``gaps.json`` lists the differences: ``notyet`` for what is still to come,
``never`` for what makes no sense without a JVM, each with its reason.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import pathlib
import sys
import types
from typing import Any, TypeVar

import pytest

import wiesel.datastream.connectors
from tests.unit.pyflink_names.compare import gaps
from wiesel.platform import pyflink_hook

HERE = pathlib.Path(__file__).parent
RECORDED = [json.loads(line) for line in (HERE / "pyflink_names.jsonl").read_text().splitlines()]
LISTED = json.loads((HERE / "gaps.json").read_text())


@pytest.fixture(scope="module")
def found() -> set[str]:
    return gaps(RECORDED, "wiesel")


def listed() -> list[str]:
    return [name for group in LISTED for name in group["names"]]


def test_every_gap_is_listed(found: set[str]) -> None:
    assert sorted(found - set(listed())) == [], "close these gaps, or list them in gaps.json with a reason"


def test_every_listed_gap_is_one(found: set[str]) -> None:
    assert sorted(set(listed()) - found) == [], "these are no gaps any more: take them off gaps.json"


def test_import_star_gives_what_it_gives_in_pyflink() -> None:
    missing, absent = [], set(listed())
    for module in sorted({entry["module"] for entry in RECORDED}):
        found: dict[str, Any] = {}
        with contextlib.suppress(ModuleNotFoundError):
            exec(f"from wiesel.{module} import *", found)  # noqa: S102 - the statement is the subject
        starred = [entry["name"] for entry in RECORDED if entry["module"] == module and entry["starred"]]
        missing += [f"{module}.{name}" for name in starred if name not in found and f"{module}.{name}" not in absent]
    assert missing == []


def test_modules_and_connectors_that_are_absent_say_what_takes_their_place() -> None:
    modules = sorted({entry["module"] for entry in RECORDED})
    absent = [module for module in modules if not pyflink_hook._exists(module)]
    assert "table.descriptors" in absent and "datastream.connectors.kafka" in absent
    for module in absent:
        assert pyflink_hook._missing_text(f"pyflink.{module}", module).count("what to do: ") == 1
        assert f"pyflink.{module}" in pyflink_hook._INSTEAD, f"name what takes the place of {module}"
    for path in listed():
        package, _, name = path.rpartition(".")
        if package == "datastream.connectors" and name.isidentifier():
            with pytest.raises(ImportError, match=rf"has no {name}\n  what to do: there is no connector for"):
                getattr(wiesel.datastream.connectors, name)


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("datastream.functions", "W W2 IN IN1 IN2 OUT KEY"),
        ("datastream.state", "T K V IN OUT"),
        ("datastream.window", "T W W2 IN OUT KEY"),
        ("table.data_view", "T K V"),
        ("table.udf", "T ACC"),
    ],
)
def test_programs_may_import_type_variables(module: str, names: str) -> None:
    found = importlib.import_module(f"wiesel.{module}")
    assert all(isinstance(getattr(found, name), TypeVar) for name in names.split())


def test_the_list_is_in_order() -> None:
    assert len(listed()) == len(set(listed()))
    assert {group["status"] for group in LISTED} <= {"notyet", "never"}
    assert all(group["reason"] and group["names"] == sorted(group["names"]) for group in LISTED)


def test_the_whole_api_was_recorded() -> None:
    told = {(entry["module"], entry["name"]): entry for entry in RECORDED}
    assert {"common", "datastream", "metrics", "datastream.connectors.kafka", "datastream.formats.json"} <= {module for module, _ in told}
    method = told["datastream.data_stream", "DataStream"]["methods"]["map"]
    assert method["parameters"] == [["func", "POSITIONAL_OR_KEYWORD", ""], ["output_type", "POSITIONAL_OR_KEYWORD", "None"]]


# The comparison itself: what it must notice.

WANTED = {
    "module": "thing",
    "name": "C",
    "is": "class",
    "bases": [],
    "methods": {"run": {"is": "method", "parameters": [["a", "POSITIONAL_OR_KEYWORD", ""], ["b", "POSITIONAL_OR_KEYWORD", "1"]]}},
}


class Fitting:
    def run(self, a: int, b: int = 1, *, more: int = 2) -> None: ...


class OtherName:
    def run(self, x: int, b: int = 1) -> None: ...


class OtherDefault:
    def run(self, a: int, b: int = 2) -> None: ...


class AsksForMore:
    def run(self, a: int, b: int = 1, *, more: int) -> None: ...


class NoMethod:
    run = 1


class Nothing: ...


@pytest.mark.parametrize(
    ("cls", "expected"),
    [
        (Fitting, []),
        (OtherName, ["thing.C.run(a)"]),
        (OtherDefault, ["thing.C.run(b=)"]),
        (AsksForMore, ["thing.C.run(+more)"]),
        (NoMethod, ["thing.C.run!"]),
        (Nothing, ["thing.C.run"]),
    ],
)
def test_differences_are_noticed(cls: type, expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    root, module = types.ModuleType("some_root"), types.ModuleType("some_root.thing")
    copy: Any = type(cls.__name__, (), {**vars(cls), "__module__": "some_root.thing"})
    module.C = copy  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "some_root", root)
    monkeypatch.setitem(sys.modules, "some_root.thing", module)
    assert sorted(gaps([WANTED], "some_root")) == expected
