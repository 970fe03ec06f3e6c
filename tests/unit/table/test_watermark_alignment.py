"""Readers of tables wait for those of other tables of their group (``scan.watermark.alignment.*``)."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pytest

from tests.unit.engine.stored_job import StoredJob, environment, start
from wiesel.columnar.row_batch import RowBatch
from wiesel.common import Row, Types
from wiesel.core.errors import ConfigurationError
from wiesel.spi.table.factory import ScanTableSource, TableContext, TableSourceFactory
from wiesel.sql.catalog import table_factories
from wiesel.sql.session.translation import to_stream
from wiesel.table import StreamTableEnvironment
from wiesel.testing import CollectedStream, ManualSource

GROUP = "'scan.watermark.alignment.group' = 'both', 'scan.watermark.alignment.max-drift' = '10 s'"
EPOCH = datetime.datetime(1970, 1, 1)
STEP_S = 5


class PushedFactory(TableSourceFactory):
    """Reads what the test pushes, as rows or as columns."""

    identifier = "pushed-test"
    sources: ClassVar[dict[str, ManualSource]] = {}
    columnar: ClassVar[bool] = False

    def create_source(self, context: TableContext) -> ScanTableSource:
        kind = Types.PICKLED_BYTE_ARRAY() if self.columnar else context.row_type
        source = PushedFactory.sources.setdefault(context.identifier.object_name, ManualSource(type_info=kind))
        return ScanTableSource(source, is_columnar=self.columnar)


def push(name: str, number: int) -> None:
    at = EPOCH + datetime.timedelta(seconds=number * STEP_S)
    row: Any = Row(number, at)
    if PushedFactory.columnar:
        schema = pa.schema([("n", pa.int32()), ("at", pa.timestamp("ms"))])
        row = RowBatch(pa.RecordBatch.from_arrays([pa.array([number], pa.int32()), pa.array([at], pa.timestamp("ms"))], schema=schema))
    PushedFactory.sources[name].push(row)


@pytest.fixture(params=[False, True], ids=["rows", "columns"])
def tables(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> type[PushedFactory]:
    monkeypatch.setitem(table_factories._BUILT_IN, "pushed-test", f"{__name__}:PushedFactory")
    monkeypatch.setattr(PushedFactory, "sources", {})
    monkeypatch.setattr(PushedFactory, "columnar", request.param)
    return PushedFactory


def started(options: str, hint: str = "") -> tuple[StoredJob, CollectedStream]:
    env = environment(None)
    t_env = StreamTableEnvironment.create(env)
    for name in ("fast", "slow"):
        t_env.execute_sql(
            f"CREATE TABLE {name} (n INT, `at` TIMESTAMP(3), ts AS `at` - INTERVAL '1' SECOND, "
            f"WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector' = 'pushed-test'{options})"
        )
    outs = [env.collect(to_stream(env, t_env.sql_query(f"SELECT n FROM {name}{hint}")._plan)) for name in ("fast", "slow")]
    return start(env), outs[0]


def numbers(out: CollectedStream) -> list[int]:
    return [row[0] for row in out.values]


def go_on(job: StoredJob, begin: int, count: int = 20) -> None:
    """Push one row a second, each further on in event time."""
    for number in range(begin, begin + count):
        push("fast", number)
        job.advance_processing_time(1_000)


@pytest.mark.parametrize(("options", "hint"), [(f", {GROUP}", ""), ("", f" /*+ OPTIONS({GROUP}) */")], ids=["table", "hint"])
def test_the_faster_table_waits_for_the_slower_one(tables: type[PushedFactory], tmp_path: Path, options: str, hint: str) -> None:
    job, out = started(options, hint)
    with job:
        push("slow", 0)
        job.advance_processing_time(2_000)
        go_on(job, 0)
        held = numbers(out)
        # Two steps are within the drift; then what was read until the answer came.
        assert held == list(range(len(held)))
        assert 2 < len(held) <= 4
        push("slow", 20)
        job.advance_processing_time(3_000)
        assert numbers(out) == list(range(20))


def test_without_a_group_nobody_waits(tables: type[PushedFactory], tmp_path: Path) -> None:
    job, out = started("")
    with job:
        push("slow", 0)
        go_on(job, 0)
        assert numbers(out) == list(range(20))


def test_a_table_without_rows_holds_nobody_back(tables: type[PushedFactory], tmp_path: Path) -> None:
    job, out = started(f", {GROUP}, 'scan.watermark.idle-timeout' = '5 s'")
    with job:
        push("slow", 0)
        job.advance_processing_time(2_000)
        go_on(job, 0)
        assert numbers(out) == list(range(20))


@pytest.mark.parametrize(
    "options",
    [
        "'scan.watermark.alignment.group' = 'g'",
        "'scan.watermark.alignment.max-drift' = '1 s'",
        "'scan.watermark.alignment.update-interval' = '1 s'",
    ],
)
def test_group_and_drift_belong_together(tables: type[PushedFactory], options: str) -> None:
    with pytest.raises(ConfigurationError, match="belong together, but one of them is missing"):
        started(f", {options}")
