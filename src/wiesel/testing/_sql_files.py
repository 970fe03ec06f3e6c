"""Internal. Strict parser of SQL test files in YAML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, cast

import yaml

from wiesel.core.errors import ProgramError

__all__ = ["Expected", "GivenTable", "TestCase", "read_cases"]

_MODES = ("streaming", "batch")
_KINDS = ("+I", "-U", "+U", "-D")


class _Loader(yaml.SafeLoader):
    """Reads all scalars except numbers, booleans and null as strings: dates and times are parsed by column type."""


_Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("bool", r"true|false", "tf"),
    ("null", r"null|~|", ["n", "~", ""]),
    ("int", r"[-+]?[0-9]+", "-+0123456789"),
    ("float", r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"(?:{_pattern})$"), list(_first))
_Loader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: int(str(node.value)))
_Loader.add_constructor("tag:yaml.org,2002:float", lambda loader, node: float(str(node.value)))


@dataclass(frozen=True)
class GivenTable:
    """Rows of a table; for ``changes`` rows preceded by their kinds."""

    schema: str | None = None
    rows: Sequence[Any] = ()
    changes: Sequence[tuple[str, Any]] | None = None


@dataclass(frozen=True)
class Expected:
    """The expected result of a query, or the expected rows of a table."""

    rows: Sequence[Any] | None = None
    changelog: Sequence[tuple[str, Any]] | None = None
    ordered: bool = False
    tables: Mapping[str, Expected] = field(default_factory=dict)
    error: str | None = None


@dataclass(frozen=True)
class TestCase:
    """One test: statements in a separate session, and the expected results."""

    __test__ = False  # pytest would collect classes of this name

    name: str
    scripts: tuple[tuple[str, str], ...]
    """Names and strings, in their order."""
    given: Mapping[str, GivenTable]
    expected: Expected
    modes: tuple[str, ...] = _MODES
    parallelism: tuple[int, ...] = (1,)
    options: Mapping[str, str] = field(default_factory=dict)


def read_cases(path: Path) -> list[TestCase]:
    """Return the tests of a file.

    Raises:
        ProgramError: If it is no YAML, or not of the form described in docs/testing.md; with the location.
    """
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), _Loader)  # noqa: S506 - it is a safe loader
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ProgramError(f"{path}: {error}", hint="correct the YAML") from error
    except OSError as error:
        raise ProgramError(f"{path} cannot be read: {error}", hint="check the path") from error
    return _File(path).cases(content)


class _File:
    def __init__(self, path: Path) -> None:
        self._path = path

    def cases(self, content: Any) -> list[TestCase]:
        top = self._map(content, "", {"setup", "options", "modes", "parallelism", "tables", "tests"})
        tests = self._list(top.get("tests"), "tests")
        if not tests:
            self._fail("tests", "there are no tests")
        found = [self._case(top, test, f"tests[{place}]") for place, test in enumerate(tests)]
        names = [case.name for case in found]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            self._fail("tests", f"two tests are named {twice!r}")
        return found

    def _case(self, top: dict[str, Any], content: Any, at: str) -> TestCase:
        known = {"name", "tables", "setup", "file", "statements", "query", "options", "modes", "parallelism", "expect"}
        test = self._map(content, at, known)
        name = test.get("name")
        if not isinstance(name, str) or not name:
            self._fail(f"{at}.name", "a test needs a name")
        given = self._tables(top.get("tables", {}), "tables") | self._tables(test.get("tables", {}), f"{at}.tables")
        if "expect" not in test:
            self._fail(at, "a test needs 'expect'")
        scripts = [*self._scripts(top, ""), *self._scripts(test, at)]
        return TestCase(
            name,
            tuple(scripts),
            given,
            self._expected(test["expect"], f"{at}.expect"),
            self._modes(test.get("modes", top.get("modes", list(_MODES))), f"{at}.modes"),
            self._parallelism(test.get("parallelism", top.get("parallelism", 1)), f"{at}.parallelism"),
            self._options(top.get("options", {}), "options") | self._options(test.get("options", {}), f"{at}.options"),
        )

    def _scripts(self, test: dict[str, Any], at: str) -> list[tuple[str, str]]:
        found = []
        for key in ("setup", "file", "statements", "query"):
            value = test.get(key)
            for each in value if isinstance(value, list) else [] if value is None else [value]:
                if not isinstance(each, str):
                    self._fail(f"{at}.{key}", "a text expected")
                if key == "file" or (key == "setup" and each.endswith(".sql") and "\n" not in each):
                    found.append((each, self._text(each, f"{at}.{key}")))
                else:
                    found.append((f"{at}.{key}".lstrip("."), each))
        return found

    def _text(self, name: str, at: str) -> str:
        try:
            return (self._path.parent / name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            self._fail(at, f"{name} cannot be read: {error}")

    def _tables(self, content: Any, at: str) -> dict[str, GivenTable]:
        found = {}
        for name, table in self._map(content, at, None).items():
            place = f"{at}.{name}"
            parts = self._map(table, place, {"schema", "rows", "changes"}) if not isinstance(table, list) else {"rows": table}
            schema = parts.get("schema")
            if schema is not None and not isinstance(schema, str):
                self._fail(f"{place}.schema", "columns as in CREATE TABLE expected, as a text")
            if "rows" in parts and "changes" in parts:
                self._fail(place, "give 'rows' or 'changes', not both")
            changes = self._changes(parts["changes"], f"{place}.changes") if "changes" in parts else None
            found[name] = GivenTable(schema, self._list(parts.get("rows"), f"{place}.rows"), changes)
        return found

    def _changes(self, content: Any, at: str) -> list[tuple[str, Any]]:
        found = []
        for place, change in enumerate(self._list(content, at)):
            if isinstance(change, dict) and len(change) == 1:
                kind, row = next(iter(change.items()))
            elif isinstance(change, list) and change:
                kind, row = change[0], change[1:]
            else:
                self._fail(f"{at}[{place}]", "a kind and a row expected, such as [+I, 1, a] or +I: {id: 1, name: a}")
            if kind not in _KINDS:
                self._fail(f"{at}[{place}]", f"{kind!r} is no kind; kinds are {', '.join(_KINDS)}")
            found.append((kind, row))
        return found

    def _expected(self, content: Any, at: str) -> Expected:
        if isinstance(content, list):
            content = {"rows": content}
        parts = self._map(content, at, {"rows", "changelog", "ordered", "tables", "error"})
        if not parts:
            self._fail(at, "nothing is expected: give rows, a changelog, tables or an error")
        error = parts.get("error")
        if error is not None and (not isinstance(error, str) or len(parts) > 1):
            self._fail(f"{at}.error", "a part of the message expected, alone")
        tables = {name: self._expected(each, f"{at}.tables.{name}") for name, each in self._map(parts.get("tables", {}), at, None).items()}
        return Expected(
            self._list(parts["rows"], f"{at}.rows") if "rows" in parts else None,
            self._changes(parts["changelog"], f"{at}.changelog") if "changelog" in parts else None,
            bool(parts.get("ordered", False)),
            tables,
            error,
        )

    def _modes(self, content: Any, at: str) -> tuple[str, ...]:
        modes = self._list(content if isinstance(content, list) else [content], at)
        if not modes or any(mode not in _MODES for mode in modes):
            self._fail(at, f"modes are {' and '.join(_MODES)}")
        return tuple(modes)

    def _parallelism(self, content: Any, at: str) -> tuple[int, ...]:
        numbers = self._list(content if isinstance(content, list) else [content], at)
        if not numbers or any(not isinstance(number, int) or number < 1 for number in numbers):
            self._fail(at, "whole numbers from 1 on expected")
        return tuple(numbers)

    def _options(self, content: Any, at: str) -> dict[str, str]:
        return {str(key): str(value) for key, value in self._map(content, at, None).items()}

    def _map(self, content: Any, at: str, known: set[str] | None) -> dict[str, Any]:
        if not isinstance(content, dict):
            self._fail(at, f"keys with values expected, found {content!r}")
        unknown = [key for key in content if known is not None and key not in known]
        if unknown:
            self._fail(at, f"unknown key {unknown[0]!r}; keys are: {', '.join(sorted(known or ()))}")
        return cast(dict[str, Any], content)

    def _list(self, content: Any, at: str) -> list[Any]:
        if content is None:
            return []
        if not isinstance(content, list):
            self._fail(at, f"a list expected, found {content!r}")
        return content

    def _fail(self, at: str, problem: str) -> NoReturn:
        where = f"{self._path}, {at}" if at else str(self._path)
        raise ProgramError(f"{where}: {problem}", hint="docs/testing.md shows the form of these files")
