"""Pairs of operands of every type have the types that real Flink gives them (recorded by ``record_type_pairs.py``)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.differential.type_pairs import COLUMNS, OPERANDS, PUT_INTO, TABLE
from wiesel.core.errors import ProgramError
from wiesel.table import EnvironmentSettings, TableEnvironment

GOLDENS = json.loads((Path(__file__).parents[2] / "differential" / "goldens" / "type_pairs.json").read_text())
NUMBERS = {"n_i", "ti", "i", "l", "f", "d", "p", "q", "1.5"}
TEXTS = {"s", "n_s", "v", "c4", "c6", "'ab'"}
TIMES = {"dt", "tm", "ts", "t6", "tz", "z6"}
INTERVALS = {name for name in OPERANDS if name.startswith("INTERVAL")}
NESTED = {"ai", "al", "m", "m2", "r", "r2"}


def refused_here(query: str, one: str, other: str) -> bool:
    """Return whether Flink takes a pair and fails when such a query runs, or makes days of numbers; here it is refused."""
    pair = {one, other}
    if "=" in query and pair & TEXTS and pair & (NUMBERS | INTERVALS | {"b"}):
        return True
    if (" < " in query or " IN " in query) and pair & TEXTS and pair & INTERVALS:
        return True
    if " < " in query and pair <= NESTED:
        return True
    return any(word in query for word in ("CASE", "UNION", "IF(", "COALESCE")) and bool(pair & (NUMBERS | INTERVALS)) and bool(
        pair & (TIMES | INTERVALS)
    )


def taken_here(query: str, one: str, other: str) -> bool:
    """Return whether a pair is taken that Flink refuses: arrays, maps, rows and intervals in IF, as they are in CASE."""
    return "IF(" in query and {one, other} <= NESTED | INTERVALS


@pytest.fixture(scope="module")
def tables() -> TableEnvironment:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    environment.execute_sql(TABLE)
    return environment


@pytest.mark.parametrize("query", PUT_INTO)
def test_types_of_pairs_are_flinks(tables: TableEnvironment, query: str) -> None:
    different = []
    for one in OPERANDS:
        for other, expected in zip(OPERANDS, GOLDENS[query][one], strict=True):
            try:
                found = tables.sql_query(query.format(one, other)).get_resolved_schema().columns[0].data_type.as_summary_string()
            except ProgramError:
                found = None
            known = refused_here if found is None else taken_here
            if found != expected and not known(query, one, other):
                different.append(f"{query.format(one, other)}: {found}, in Flink {expected}")
    assert not different
    assert len(GOLDENS[query]) == len(OPERANDS) > len(COLUMNS)
