"""Records what real Flink returns for the queries of ``sql_aggregates.txt`` and ``sql_joins.txt``, in files of these names in ``goldens``.

Run it with the interpreter of a virtual environment that holds real PyFlink 2.3 and a JDK 17 on the path; it takes some minutes. The
queries of aggregates read the rows of ``sql_events.py``, those of joins the tables of ``sql_tables.py``, in their order, with parallelism 1
and a watermark behind each row. Recorded are the types of the columns, and the changelog row by row in the order of Flink; or ``fails``
with the message where Flink refuses the query.
"""

from __future__ import annotations

import datetime
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
VERSIONS = """CREATE TEMPORARY VIEW versions AS SELECT name, city, age, ts FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY name ORDER BY ts DESC) AS rn FROM people) WHERE rn = 1"""


def tables_of(name: str) -> tuple[dict[str, tuple[dict[str, str], Any]], str, tuple[str, ...]]:
    """Return the tables that queries read, with the types of their columns and their rows; the watermark; statements behind them."""
    if name == "sql_joins":
        from sql_tables import TABLES, WATERMARK

        return TABLES, WATERMARK, (VERSIONS,)
    from sql_events import COLUMNS, ROWS
    from sql_events import WATERMARK as OF_EVENTS

    return {"e": (COLUMNS, ROWS)}, OF_EVENTS, ()


def _json(row: tuple[Any, ...], names: list[str]) -> str:
    def shown(value: Any) -> Any:
        if isinstance(value, datetime.datetime):
            return value.isoformat(" ", "milliseconds")
        return value if value is None or isinstance(value, int | float | str) else float(value)

    return json.dumps(dict(zip(names, map(shown, row), strict=True)))


class Recorder:
    """Asks Flink."""

    def __init__(self, name: str, folder: str) -> None:
        from pyflink.table import EnvironmentSettings, TableEnvironment

        self.tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        for key, value in {"parallelism.default": "1", "table.local-time-zone": "UTC", "pipeline.auto-watermark-interval": "0 ms"}.items():
            self.tables.get_config().set(key, value)
        tables, watermark, statements = tables_of(name)
        for table, (kinds, rows) in tables.items():
            Path(folder, f"{table}.json").write_text("".join(_json(row, list(kinds)) + "\n" for row in rows))
            columns = ", ".join(f"`{column}` {kind}" for column, kind in kinds.items())
            place = f"'path' = '{folder}/{table}.json', 'json.timestamp-format.standard' = 'SQL'"
            options = f"'connector' = 'filesystem', 'format' = 'json', {place}"
            self.tables.execute_sql(f"CREATE TABLE {table} ({columns}, WATERMARK FOR ts AS {watermark}) WITH ({options})")
        for statement in statements:
            self.tables.execute_sql(statement)

    def record(self, query: str) -> dict[str, Any]:
        """Return what Flink makes of a query."""
        from canonical import canonical

        try:
            result = self.tables.execute_sql(query)
            schema = result._j_table_result.getResolvedSchema()
            types = [of.getLogicalType().asSummaryString() for of in schema.getColumnDataTypes()]
            with result.collect() as rows:
                found = [[row.get_row_kind().name, *map(canonical, row)] for row in rows]
            return {"types": types, "names": list(schema.getColumnNames()), "rows": found}
        except Exception as error:  # noqa: BLE001 - what fails in Flink is part of the record
            return {"fails": _message(error)}


def _message(error: BaseException) -> str:
    java, last = getattr(error, "java_exception", None), str(error).split("\n")[0]
    while java is not None:
        last = f"{java.getClass().getSimpleName()}: {java.getMessage()}"
        java = java.getCause()
    return last[:300]


def record(name: str) -> None:
    """Record the queries of a file that are new, or all with ``--all``."""
    target = HERE / "goldens" / f"{name}.json"
    queries = [line for line in (HERE / f"{name}.txt").read_text().splitlines() if line and not line.startswith("#")]
    found = json.loads(target.read_text()) if target.exists() and "--all" not in sys.argv else {}
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(name, folder)
        for query in queries:
            if query not in found:
                found[query] = recorder.record(query)
                print(found[query].get("fails", len(found[query].get("rows", ()))), query[:100], flush=True)
    lines = ",\n".join(f"{json.dumps(query)}: {json.dumps(found[query])}" for query in queries)
    target.write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    for each in ("sql_aggregates", "sql_joins"):
        record(each)
