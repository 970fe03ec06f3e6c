"""Texts of JSON are the VARIANTs that real Flink makes of them (recorded by ``record_variants.py``), and have its parts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wiesel.columnar.functions.variants import part_of, variant_text
from wiesel.common import Configuration
from wiesel.core.errors import ProgramError
from wiesel.table import TableEnvironment
from wiesel.table.udf import udf

GOLDENS = Path(__file__).parents[2] / "differential" / "goldens" / "variants.json"
ROWS: list[list[Any]] = json.loads(GOLDENS.read_text())


def shown(text: str, allow_duplicates: bool) -> str | None:
    try:
        return variant_text(text, allow_duplicates)
    except ValueError:
        return None


@pytest.mark.parametrize("allow_duplicates", [False, True])
def test_values_print_as_in_flink(allow_duplicates: bool) -> None:
    wrong = [
        (text, shown(text, allow_duplicates), wanted)
        for text, *both in ROWS
        if shown(text, allow_duplicates) != (wanted := both[allow_duplicates])
    ]
    assert not wrong[:5], f"{len(wrong)} of {len(ROWS)}"


def part(value: str, place: str | int) -> str | bool | None:
    try:
        return part_of(value, place)
    except ValueError:
        return False


def test_parts_are_those_of_flink() -> None:
    rows = [row for row in ROWS if len(row) == 5]
    assert len(rows) > 700
    wrong = [(value, place, part(value, place), wanted) for _, _, value, place, wanted in rows if part(value, place) != wanted]
    assert not wrong[:5], f"{len(wrong)} of {len(rows)}"


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_values_that_are_nested_too_deeply_are_refused(opening: str) -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        variant_text(opening * 100_000)


def test_numbers_with_more_characters_than_flink_takes_are_refused() -> None:
    assert variant_text("1" * 1000) == "Infinity"
    with pytest.raises(ValueError, match="1000 characters"):
        variant_text("1" * 1001)


def environment() -> TableEnvironment:
    return TableEnvironment.create(Configuration().set("wiesel.engine", "local").set("execution.runtime-mode", "BATCH"))


@pytest.mark.parametrize("kind", ["VARIANT", "ARRAY<VARIANT>", "ROW<a MAP<STRING, VARIANT>>"])
@pytest.mark.parametrize("file_format", ["parquet", "orc"])
def test_files_of_columns_keep_no_variants(kind: str, file_format: str, tmp_path: Path) -> None:
    tables = environment()
    tables.execute_sql(f"CREATE TABLE t (v {kind}) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = '{file_format}')")
    with pytest.raises(ProgramError, match="column `v`: values of type VARIANT are not kept in files"):
        tables.execute_sql("SELECT * FROM t")


def test_functions_take_the_text_of_variants_and_return_none() -> None:
    tables = environment()
    tables.create_temporary_function("keys_of", udf(lambda text: ",".join(json.loads(text)), result_type="STRING"))
    rows = tables.execute_sql("""SELECT keys_of(PARSE_JSON('{"b": 1, "a": 2}')), PARSE_JSON('[1.0]')""").collect()
    assert [tuple(row) for row in rows] == [("a,b", "[1]")]
    with pytest.raises(ProgramError, match="cannot return values of type VARIANT"):
        udf(lambda text: text, result_type="ARRAY<VARIANT>")


def test_parts_in_the_table_api() -> None:
    table = environment().sql_query("""SELECT PARSE_JSON('{"a": [1, {"b": "x"}]}') AS v""")
    rows = table.select(table.v.at("a").at(2).at("b"), table.v.at("z")).execute().collect()
    assert [tuple(row) for row in rows] == [('"x"', None)]


def test_text_that_is_nested_as_deeply_as_usual_is_kept() -> None:
    text = "[" * 100 + "]" * 100
    assert variant_text(text) == text
    assert part_of(text, 1) == text[1:-1]
