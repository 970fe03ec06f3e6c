"""Every case returns on the local engine what real Flink returned (``goldens.jsonl``, recorded by ``record.py``)."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.sql_cases.case_files import GOLDENS, Case, all_cases
from wiesel.common import Configuration
from wiesel.core.errors import WieselError
from wiesel.table import ResultKind, TableEnvironment

RECORDED = {(golden["case"], golden["mode"]): golden["outcomes"] for golden in map(json.loads, GOLDENS.read_text().splitlines())}
PAIRS = [(case, mode) for case in all_cases() for mode in case.modes]
_QUERIES = ("SELECT", "WITH", "VALUES")


def ids(value: Any) -> str:
    return value.name if isinstance(value, Case) else str(value)


def environment(case: Case, mode: str, parallelism: int) -> TableEnvironment:
    config = Configuration().set("wiesel.engine", "local").set("execution.runtime-mode", mode.upper())
    config.set("parallelism.default", str(parallelism)).set("table.local-time-zone", "UTC")
    for key, value in case.options.items():
        config.set(key, value)
    return TableEnvironment.create(config)


def final_rows(changes: list[list[str]]) -> Counter[tuple[str, ...]]:
    """Return what changes come to; none may take back a row that is not there."""
    rows: Counter[tuple[str, ...]] = Counter()
    for kind, *values in changes:
        row = tuple(values)
        if kind in ("+I", "+U"):
            rows[row] += 1
        else:
            assert rows[row] > 0, f"{kind} {row} takes back a row that was not sent"
            rows[row] -= 1
    return +rows


def run(case: Case, mode: str, parallelism: int, out: Path) -> None:
    t_env = environment(case, mode, parallelism)
    for statement, golden in zip(case.statements(str(out)), RECORDED[case.name, mode], strict=False):
        if "error" in golden:
            with pytest.raises(WieselError) as caught:
                list(t_env.execute_sql(statement).text_rows())
                t_env.execute_sql(statement).wait()
            assert caught.value.hint
            return
        result = t_env.execute_sql(statement)
        if "job" in golden:
            result.wait()
        else:
            check(case, mode, statement, result, golden)


def check(case: Case, mode: str, statement: str, result: Any, golden: dict[str, Any]) -> None:
    columns = [[column.name, column.data_type.as_summary_string()] for column in result.get_resolved_schema().columns]
    if result.get_result_kind() is ResultKind.SUCCESS:
        assert golden["rows"] == [["+I", "OK"]]
        return
    if not statement.upper().startswith(_QUERIES):
        assert [name for name, _ in columns] == [name for name, _ in golden["columns"]]
        assert list(result.text_rows()) == golden["rows"], statement
        return
    changes = list(result.text_rows())
    assert list(map(plain, columns)) == list(map(plain, golden["columns"]))
    if case.is_ordered(mode):
        assert changes == golden["rows"]
    assert final_rows(changes) == final_rows(golden["rows"])


def plain(column: list[str]) -> list[str]:
    """Return name and type without what Flink's planner finds out besides: what is never null, what has event time."""
    name, kind = column
    return [name, kind.replace(" *ROWTIME*", "").replace(" *PROCTIME*", "").removesuffix(" NOT NULL")]


@pytest.mark.parametrize("parallelism", [pytest.param(1, marks=pytest.mark.slow), 2, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("case", "mode"), PAIRS, ids=ids)
def test_returns_what_flink_returns(case: Case, mode: str, parallelism: int, tmp_path: Path) -> None:
    run(case, mode, parallelism, tmp_path)


def test_there_is_an_outcome_for_every_statement_and_no_other_one() -> None:
    assert RECORDED.keys() == {(case.name, mode) for case, mode in PAIRS}
    for case, mode in PAIRS:
        outcomes, statements = RECORDED[case.name, mode], case.statements("")
        ends_with_error = "error" in outcomes[-1]
        assert len(outcomes) == len(statements) or (ends_with_error and len(outcomes) < len(statements)), (case.name, mode)
        assert not any("error" in outcome for outcome in outcomes[:-1]), (case.name, mode)
