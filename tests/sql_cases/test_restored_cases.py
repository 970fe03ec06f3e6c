"""Cases whose operators keep state go on from a checkpoint in the middle of their rows, at another parallelism."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.sql_cases.case_files import Case
from tests.sql_cases.test_cases import PAIRS, RECORDED, final_rows, ids
from wiesel.columnar.rows import to_rows
from wiesel.common import Configuration, RowKind, WatermarkStrategy
from wiesel.datastream import DataStream, StreamExecutionEnvironment
from wiesel.spi.table.schema import ResolvedSchema
from wiesel.sql.catalog.table_factories import source_kinds
from wiesel.sql.physical.final_rows import last_rows
from wiesel.sql.physical.translator import Translator
from wiesel.sql.plan.relations import Relation, StreamScan, TableScan, walk
from wiesel.sql.session.jobs import start_query
from wiesel.sql.session.result_strings import batch_strings
from wiesel.sql.session.stream_rows import table_row_info
from wiesel.table import StreamTableEnvironment
from wiesel.testing import ManualSource, PipelineJob, local_environment

pytestmark = pytest.mark.slow

QUERIES = ("SELECT", "WITH")
STATEFUL = re.compile(
    r"\b(GROUP BY|DISTINCT|JOIN|OVER|UNION|INTERSECT|EXCEPT|EXISTS|LIMIT|ORDER BY|MATCH_RECOGNIZE|COUNT|SUM|MIN|MAX|AVG)\b", re.I
)
WITHOUT_MIDDLE = {
    "dedup_first_late": "behind a checkpoint no watermark says that its rows are late",
    "dedup_first_mini_batch": "what options make of a plan is not done here",
    "dedup_first_mini_batch_groups": "what options make of a plan is not done here",
    "dedup_first_mini_batch_split": "what options make of a plan is not done here",
    "dedup_first_ties": "its table has a computed time",
    "dedup_first_windows": "behind a checkpoint no watermark says that its rows are late",
    "join_natural": "its rows stand in the query",
    "join_using_full": "its rows stand in the query",
    "limit_zero": "nothing is read",
    "over_unread": "what the optimizer takes out of a plan is still in it here",
    "query_decimal_common": "its rows stand in the query",
    "query_variant_aggregates": "its rows stand in the query",
    "query_variant_equal": "its rows stand in the query",
    "query_variant_in_rows": "its rows stand in the query",
    "scan_metadata": "what is asked is what the files of its table tell of themselves",
    "set_chain": "its rows stand in the query",
    "set_empty_literals": "its rows stand in the query",
    "set_nulls": "its rows stand in the query",
    "unnest_names": "its rows stand in the query",
    "unnest_rows": "its rows stand in the query",
}
"""Cases with state whose jobs cannot be stopped in their middle, and why. Those that write are left out: they read what they wrote."""


def outcomes(case: Case) -> list[dict[str, Any]]:
    """Return what the statements of a case bring up to the first that fails."""
    return [golden for golden in RECORDED[case.name, "streaming"] if "error" not in golden]


def is_kept(case: Case, mode: str) -> bool:
    """Return whether jobs of the case can be stopped in their middle: they only read, and tables of several rows."""
    if mode != "streaming" or "-- uses:" not in case.text or case.name in WITHOUT_MIDDLE:
        return False
    goldens = outcomes(case)
    return any(is_query(*pair) for pair in zip(case.statements(""), goldens, strict=False)) and not any("job" in each for each in goldens)


def is_query(statement: str, golden: dict[str, Any]) -> bool:
    return "columns" in golden and statement.upper().startswith(QUERIES)


def test_no_case_with_state_is_left_out_without_a_reason() -> None:
    found = set()
    for case, mode in PAIRS:
        if mode == "streaming" and not is_kept(case, mode) and not any("job" in each for each in outcomes(case)):
            queries = [text for text, golden in zip(case.statements(""), outcomes(case), strict=False) if is_query(text, golden)]
            found |= {case.name} if any(map(STATEFUL.search, queries)) else set()
    assert found == set(WITHOUT_MIDDLE)


@pytest.mark.parametrize("case", [case for case, mode in PAIRS if is_kept(case, mode)], ids=ids)
def test_goes_on_from_a_checkpoint_at_another_parallelism(case: Case, tmp_path: Path) -> None:
    random = Random(case.name)
    before: list[str] = []
    for statement, golden in zip(case.statements(str(tmp_path)), outcomes(case), strict=False):
        if is_query(statement, golden):
            rows = RowsOfTables(random)
            parallelism = random.randint(1, 3)
            job, out = started(case, before, statement, parallelism, rows)
            with job:
                rows.push(job, half=True)
                snapshot = job.checkpoint()
                found = changes_of(out)
            job, out = started(case, before, statement, random.choice([one for one in (1, 2, 3) if one != parallelism]), rows, snapshot)
            with job:
                rows.push(job)
                job.finish()
            assert final_rows([*found, *changes_of(out)]) == final_rows(golden["rows"]), statement
        else:
            before.append(statement)


class RowsOfTables:
    """Puts sources in the place of a query's tables, which give the rows of the tables one by one, when they are told to."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._sources: list[ManualSource] = []
        self._rows: list[list[Any]] = []
        self._left: list[int] = []

    def in_place(self, t_env: StreamTableEnvironment, plan: Relation) -> Relation:
        """Return the plan with sources in the place of tables; it is the same ones each time."""
        scans = [relation for relation in walk(plan) if isinstance(relation, TableScan)]
        if not self._sources:
            config = Configuration().set("wiesel.engine", "local")
            for scan in scans:
                with start_query(StreamExecutionEnvironment.get_execution_environment(config), scan, "rows") as batches:
                    self._rows.append([row for batch in batches for row in to_rows(batch)])
                self._sources.append(ManualSource(type_info=table_row_info(scan.row_type)))
            self._left = [place for place, rows in enumerate(self._rows) for _ in rows]
            self._random.shuffle(self._left)
        return self._replaced(t_env, plan, iter(self._sources))

    def _replaced(self, t_env: StreamTableEnvironment, plan: Relation, sources: Iterator[ManualSource]) -> Relation:
        if not isinstance(plan, TableScan):
            return plan.with_inputs(*(self._replaced(t_env, each, sources) for each in plan.inputs)) if plan.inputs else plan
        env, info, source = t_env._environment, table_row_info(plan.row_type), next(sources)
        stream = env.from_source(source, WatermarkStrategy.no_watermarks(), f"rows {self._sources.index(source)}", info).set_parallelism(1)
        return StreamScan(stream, ResolvedSchema.physical(plan.row_type), source_kinds(plan.identifier, plan.table))

    def push(self, job: PipelineJob, *, half: bool = False) -> None:
        """Give the rows that are left, or half of them."""
        given = self._left[: len(self._left) // 2] if half else self._left
        self._left = self._left[len(given) :]
        for place in given:
            self._sources[place].push(self._rows[place].pop(0))
            job.settle()


def started(
    case: Case, before: list[str], query: str, parallelism: int, rows: RowsOfTables, restore_from: Any = None
) -> tuple[PipelineJob, Any]:
    """Start the job of a query, behind the statements before it."""
    env = local_environment(parallelism=parallelism, seed=parallelism, config={"table.local-time-zone": "UTC", **case.options})
    t_env = StreamTableEnvironment.create(env)
    for statement in before:
        t_env.execute_sql(statement).wait()
    plan = rows.in_place(t_env, t_env.sql_query(query)._plan)
    translator = Translator(env)
    translator.changes.add(plan)
    out = env.collect(DataStream(env, last_rows(translator, plan)))
    return env.start(restore_from=restore_from), (out, plan.row_type.field_types(), t_env.get_config().get_local_timezone())


def changes_of(collected: Any) -> list[list[str]]:
    """Return the rows of a result that are final, as texts with their kinds."""
    out, types, zone = collected
    return [
        [str(list(RowKind)[kind]), *("<NULL>" if value is None else value for value in row)]
        for batch in out.committed
        for kind, row in zip(batch.kinds_or_inserts().tolist(), batch_strings(batch, types, zone), strict=True)
    ]
