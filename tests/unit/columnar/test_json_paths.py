"""Paths into JSON lead where they lead in real Flink (recorded by ``record_json_paths.py``)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.unit.columnar.test_expressions_of_flink import SAMPLES, bound
from wiesel.columnar.evaluation import Frame, Session, as_array, evaluate

GOLDEN = json.loads((Path(__file__).parents[2] / "differential" / "goldens" / "json_paths.json").read_text())
NOT_IMITATED = re.compile(r"\.\.(\[\d\]|\*)[.\[]")
"""Behind ``..[0]`` a further step is taken from all elements of arrays in Flink, and not from the first one; behind ``..*`` it is lost."""
ROWS = [row for row in GOLDEN["rows"] if isinstance(row[2], list) and not NOT_IMITATED.search(row[1])]
"""Where Flink fails for a class that it does not have, comparing an object or an array in a filter, it is not imitated either."""


def found(call: str, rows: list[Any]) -> list[Any]:
    """Return what a call gives for rows of texts and paths."""
    expression = bound(call.format("s, v"))
    given = {"s": pa.array([row[0] for row in rows]), "v": pa.array([row[1] for row in rows])}
    columns = [given.get(field.name, pa.nulls(len(rows), field.type)) for field in SAMPLES.schema]
    batch = pa.RecordBatch.from_arrays(columns, names=SAMPLES.schema.names)
    return as_array(evaluate(expression, Frame(batch, Session("UTC"))), len(rows)).to_pylist()


@pytest.mark.parametrize("place", range(len(GOLDEN["calls"])), ids=GOLDEN["calls"])
def test_paths_lead_where_they_do_in_flink(place: int) -> None:
    values = found(GOLDEN["calls"][place], ROWS)
    assert len(ROWS) > 1000
    wrong = [(text, path, value, golden[place]) for (text, path, golden), value in zip(ROWS, values, strict=True) if value != golden[place]]
    assert not wrong
