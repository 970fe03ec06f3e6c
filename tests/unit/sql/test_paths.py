"""Paths of tables, against real Flink (``tests/differential/record_table_api.py``)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.differential import table_cases
from wiesel.core.errors import ProgramError
from wiesel.sql.catalog.paths import parse_path
from wiesel.types.logical import quoted

GOLDENS = json.loads((Path(table_cases.__file__).parent / "goldens" / "table_api.json").read_text(encoding="utf-8"))["paths"]


def test_every_case_was_recorded() -> None:
    assert set(GOLDENS) == set(table_cases.PATHS)


@pytest.mark.parametrize("path", table_cases.PATHS)
def test_as_in_flink(path: str) -> None:
    if isinstance(GOLDENS[path], dict):
        with pytest.raises(ProgramError, match="invalid table path") as caught:
            parse_path(path)
        assert str(caught.value).splitlines()[2].rstrip().endswith("^")
    else:
        assert ".".join(map(quoted, parse_path(path))) == GOLDENS[path]


@pytest.mark.parametrize("path", [None, 5, b"t"])
def test_other_than_text(path: Any) -> None:
    with pytest.raises(ProgramError, match="a table's path is a text"):
        parse_path(path)
