"""docs/coverage.md speaks of every feature, and what it names exists."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from tests.arch.repository import ROOT, read

# The last number of each letter; two numbers were never given out.
LAST = {
    "U": 9, "D": 25, "G": 17, "N": 28, "T": 18, "W": 17, "S": 17, "B": 12, "C": 31, "R": 9, "H": 15, "K": 14,
    "A": 12, "I": 13, "Q": 13, "E": 3, "L": 4, "P": 23, "M": 17, "Y": 14, "X": 20,
}  # fmt: skip
NEVER_GIVEN = {"P14", "M7"}
EXPECTED = [name for letter, last in LAST.items() for i in range(1, last + 1) if (name := f"{letter}{i}") not in NEVER_GIVEN]

STATES = {"done", "partial", "open", "later", "not applicable"}
PATH = re.compile(r"(?:src|tests|docs|examples|benchmarks|scripts)/[\w./-]*\w(?:::\w+)*")
MODULE = re.compile(r"`(wiesel(?:\.\w+)+)`")


@dataclass(frozen=True)
class Row:
    id: str
    feature: str
    state: str
    where: str
    proof: str


def rows() -> list[Row]:
    lines = [line for line in read("docs/coverage.md").splitlines() if re.match(r"\| [A-Z]\d+ \|", line)]
    return [Row(*(cell.strip() for cell in line.strip("|").split("|"))) for line in lines]


def test_every_feature_has_its_row_in_order() -> None:
    assert [row.id for row in rows()] == EXPECTED


def test_every_row_has_a_name_and_a_state() -> None:
    assert not [row for row in rows() if not row.feature or row.state not in STATES]


def test_what_is_done_names_its_place_and_its_test() -> None:
    lacking = [row.id for row in rows() if row.state == "done" and not (row.where and "tests/" in row.proof)]
    assert not lacking


def test_what_is_not_done_says_why() -> None:
    assert not [row.id for row in rows() if row.state in {"partial", "later", "not applicable"} and not row.proof]


def test_files_and_tests_that_are_named_exist() -> None:
    assert not missing(read("docs/coverage.md"))


@pytest.mark.parametrize(
    "text", ["`src/wiesel/nowhere.py`", "`tests/arch/test_files.py::test_nothing_of_that_name`", "`wiesel.core.nothing`"]
)
def test_what_does_not_exist_is_found(text: str) -> None:
    assert missing(text)


def test_what_exists_is_accepted() -> None:
    assert not missing("`src/wiesel/core` `tests/arch/test_coverage_doc.py::test_what_exists_is_accepted` `wiesel.core.errors.WieselError`")


def missing(text: str) -> list[str]:
    """Paths, tests and modules named in a text that are not there."""
    found = []
    for name in PATH.findall(text):
        path, *parts = name.split("::")
        file = ROOT / path
        if not file.exists() or (parts and not all(re.search(rf"\b(def|class) {part}\b", file.read_text()) for part in parts)):
            found.append(name)
    return found + [name for name in MODULE.findall(text) if not module_exists(name)]


def module_exists(name: str) -> bool:
    """Whether a dotted name is a module of Wiesel, or something defined in one."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        base = ROOT.joinpath("src", *parts[:end])
        files = [base.with_suffix(".py"), base / "__init__.py"]
        source = next((file for file in files if file.exists()), None)
        if source is not None:
            text = source.read_text()
            return all(re.search(rf"\b{part}\b", text) for part in parts[end:])
    return False
