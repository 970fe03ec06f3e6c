"""Watermarks by options of tables, in their definition or by hint: idle readers do not hold windows back, and what is wrong is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from wiesel.common import Configuration
from wiesel.core.errors import ConfigurationError, ProgramError, WieselError
from wiesel.table import TableEnvironment

COUNTS = """
SELECT window_end, COUNT(*) FROM TABLE(TUMBLE(TABLE both, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end
"""


@pytest.fixture
def t_env(tmp_path: Path) -> TableEnvironment:
    found = TableEnvironment.create(Configuration().set("wiesel.engine", "local").set("parallelism.default", "1"))
    for name, seconds in (("busy", (1, 5, 12, 25)), ("quiet", ())):
        (tmp_path / name).mkdir()
        if seconds:
            (tmp_path / name / "rows.csv").write_text("".join(f"{number},2024-01-01 00:00:{number:02}\n" for number in seconds))
        found.execute_sql(
            f"CREATE TABLE {name} (n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'format' = 'csv', "
            f"'path' = '{tmp_path / name}', 'source.monitor-interval' = '1 s')"
        )
    return found


def first_counts(t_env: TableEnvironment, quiet: str) -> list[tuple[str, int]]:
    """Return the windows of an endless table that end before its last row."""
    t_env.execute_sql(f"CREATE TEMPORARY VIEW both AS SELECT * FROM busy UNION ALL SELECT * FROM {quiet}")
    result = t_env.execute_sql(COUNTS)
    with result.collect() as rows:
        found = [(str(row[0]), row[1]) for row in (next(rows), next(rows))]
    client = result.get_job_client()
    assert client is not None
    client.cancel()
    return found


def test_a_table_without_rows_does_not_hold_windows_back(t_env: TableEnvironment) -> None:
    expected = [("2024-01-01 00:00:10", 2), ("2024-01-01 00:00:20", 1)]
    assert first_counts(t_env, "quiet /*+ OPTIONS('scan.watermark.idle-timeout' = '2 s') */") == expected


def test_the_timeout_of_all_tables(t_env: TableEnvironment) -> None:
    t_env.execute_sql("SET 'table.exec.source.idle-timeout' = '2 s'")
    assert first_counts(t_env, "quiet") == [("2024-01-01 00:00:10", 2), ("2024-01-01 00:00:20", 1)]


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ("'scan.watermark.emit.strategy' = 'sometimes'", ConfigurationError, r"option scan\.watermark\.emit\.strategy"),
        ("'scan.watermark.emit.on-event.gap' = '0'", ConfigurationError, r"option scan\.watermark\.emit\.on-event\.gap: 0 is too small"),
        ("'scan.watermark.idle' = '1 s'", ConfigurationError, r"unsupported options for 'watermarks': scan\.watermark\.idle"),
        ("'scan.watermark.alignment.group' = 'g'", ConfigurationError, "belong together, but one of them is missing"),
    ],
)
def test_wrong_options(t_env: TableEnvironment, options: str, kind: type[WieselError], message: str) -> None:
    with pytest.raises(kind, match=message):
        t_env.sql_query(f"SELECT * FROM busy /*+ OPTIONS({options}) */")


def test_options_need_a_watermark(t_env: TableEnvironment, tmp_path: Path) -> None:
    t_env.execute_sql(
        f"CREATE TABLE plain (n INT) WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{tmp_path / 'plain'}', "
        "'scan.watermark.idle-timeout' = '1 s')"
    )
    with pytest.raises(ProgramError, match="is of no use: the table has no watermark"):
        t_env.sql_query("SELECT * FROM plain")
    t_env.execute_sql("INSERT INTO plain VALUES (1)").wait()  # writing asks for no watermark


def test_strategies_lose_the_same_rows_in_any_batches(t_env: TableEnvironment, tmp_path: Path) -> None:
    """With a gap of two rows the second row's watermark comes before the third, which is late for its window then."""
    path = tmp_path / "late.csv"
    path.write_text("".join(f"{number},2024-01-01 00:00:{number:02}\n" for number in (1, 15, 2, 16, 3)))
    t_env.execute_sql(
        "CREATE TABLE both (n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'format' = 'csv', "
        f"'path' = '{path}')"
    )

    def counts(gap: int) -> list[int]:
        options = f"/*+ OPTIONS('scan.watermark.emit.strategy' = 'on-event', 'scan.watermark.emit.on-event.gap' = '{gap}') */"
        query = COUNTS.replace("TABLE both", f"TABLE both {options}")
        return [row["EXPR$1"] for row in sorted(t_env.sql_query(query).to_arrow().to_pylist(), key=lambda row: row["window_end"])]

    assert counts(2) == [1, 2]  # 2 and 3 come behind the watermark of 15
    assert counts(4) == [2, 2]  # 3 comes behind that of 16
    assert counts(9) == [3, 2]
