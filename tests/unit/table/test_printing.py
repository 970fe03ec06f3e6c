"""Results print as in real Flink (recorded by ``record_sql_printing.py``)."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from wiesel.columnar.arrow_types import arrow_schema
from wiesel.columnar.row_batch import RowBatch
from wiesel.common import Configuration
from wiesel.sql.session.result_strings import NULL, batch_strings
from wiesel.sql.session.tableau import lines_by_type, widths_by_type
from wiesel.table import EnvironmentSettings, TableEnvironment
from wiesel.types.logical_parser import parse_data_type

RECORDED = json.loads((Path(__file__).parents[2] / "differential" / "goldens" / "sql_printing.json").read_text())
ALL_TYPES = {
    "a": ("TINYINT", 1),
    "b": ("SMALLINT", 2),
    "c": ("INT", 3),
    "d": ("BIGINT", 4),
    "e": ("FLOAT", 1.5),
    "f": ("DOUBLE", 1e10),
    "g": ("DECIMAL(10, 3)", Decimal("1.250")),
    "h": ("BOOLEAN", True),
    "i": ("CHAR(1)", "x"),
    "j": ("STRING", "some text"),
    "k": ("INT", None),
    "l": ("DATE", datetime.date(2024, 2, 29)),
    "m": ("TIME(0)", datetime.time(10, 11, 12)),
    "n": ("TIMESTAMP(3)", datetime.datetime(2024, 2, 29, 10, 11, 12, 123000)),
    "o": ("TIMESTAMP(0)", datetime.datetime(2024, 2, 29, 10, 11, 12)),
    "p": ("BINARY(2)", b"\x0a\x1f"),
    "q": ("ARRAY<STRING>", ["a", None]),
    "r": ("MAP<STRING, INT>", [("k", 1)]),
    "s": ("ROW<x INT, y STRING, z BOOLEAN>", {"x": 1, "y": "b", "z": True}),
    "t": ("INTERVAL DAY", 86_400_000),
    "u": ("INTERVAL MONTH", 2),
    "v": ("STRING", "a text that is longer than thirty characters"),
    "a_column_of_a_long_name": ("BOOLEAN", True),
}


@pytest.mark.parametrize("recorded", [each for each in RECORDED if "TINYINT" in each["sql"]], ids=lambda each: each["mode"])
def test_values_of_all_types(recorded: dict[str, str]) -> None:
    names, types = list(ALL_TYPES), [parse_data_type(text) for text, _ in ALL_TYPES.values()]
    schema = arrow_schema(zip(names, types, strict=True))
    arrays = [pa.array([value], field.type) for (_, value), field in zip(ALL_TYPES.values(), schema, strict=True)]
    rows = batch_strings(RowBatch(pa.RecordBatch.from_arrays(arrays, schema=schema)), types)
    shown = [[NULL if value is None else value for value in row] for row in rows]
    widths = widths_by_type(names, types, 30)
    if recorded["mode"] == "streaming":
        names, widths, shown = ["op", *names], [2, *widths], [["+I", *row] for row in shown]
    assert "\n".join(lines_by_type(names, widths, shown)) + "\n" == recorded["printed"]


@pytest.mark.parametrize("mode", ["streaming", "batch"])
def test_statements(mode: str, capsys: pytest.CaptureFixture[str]) -> None:
    config = Configuration().set("wiesel.engine", "local").set("parallelism.default", "1").set("execution.runtime-mode", mode.upper())
    t_env = TableEnvironment.create(config)
    for recorded in RECORDED:
        if recorded["mode"] != mode or "TINYINT" in recorded["sql"]:
            continue
        result: Any = t_env.execute_sql(recorded["sql"])
        result.wait()
        result.print()
        assert capsys.readouterr().out == recorded["printed"], recorded["sql"]


def test_another_width(capsys: pytest.CaptureFixture[str]) -> None:
    settings = EnvironmentSettings.new_instance().with_configuration(Configuration().set("wiesel.engine", "local")).build()
    t_env = TableEnvironment.create(settings)
    t_env.get_config().set("table.display.max-column-width", "6")
    t_env.execute_sql("VALUES ('abcdefgh')").print()
    assert capsys.readouterr().out.splitlines()[3] == "| +I | abc... |"
