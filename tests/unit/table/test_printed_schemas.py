"""Schemas of tables print as in real Flink (recorded by ``tests/differential/record_printed_schemas.py``)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.unit.table.test_stream_tables import X, environments

DIFFERENTIAL = Path(__file__).parents[2] / "differential"
sys.path.insert(0, str(DIFFERENTIAL))

from printed_schema_cases import CASES, printed  # noqa: E402

GOLDENS = json.loads((DIFFERENTIAL / "goldens" / "printed_schemas.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", CASES)
def test_schemas_print_as_in_flink(name: str) -> None:
    assert printed(CASES[name](X, *environments())) == GOLDENS[name]


def test_every_case_is_recorded() -> None:
    assert list(GOLDENS) == list(CASES)
