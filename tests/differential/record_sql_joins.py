"""Records what real Flink returns for the queries of ``sql_joins.txt``: ``goldens/sql_joins.json``.

Run it with the interpreter of a virtual environment that holds real PyFlink 2.3 and a JDK 17 on the path; it takes some minutes. The
queries read the tables of ``sql_tables.py`` with parallelism 1. Recorded are the types of the columns, and the changelog row by row in the
order of Flink; or ``fails`` with the message where Flink refuses the query.
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
TARGET = HERE / "goldens" / "sql_joins.json"
VERSIONS = """CREATE TEMPORARY VIEW versions AS SELECT name, city, age, ts FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY name ORDER BY ts DESC) AS rn FROM people) WHERE rn = 1"""


def _json(row: tuple[Any, ...], names: list[str]) -> str:
    def shown(value: Any) -> Any:
        return value.isoformat(" ", "milliseconds") if isinstance(value, datetime.datetime) else value

    return json.dumps(dict(zip(names, map(shown, row), strict=True)))


class Recorder:
    """Asks Flink."""

    def __init__(self, folder: str) -> None:
        from pyflink.table import EnvironmentSettings, TableEnvironment
        from sql_tables import TABLES, WATERMARK

        self.tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        for key, value in {"parallelism.default": "1", "table.local-time-zone": "UTC", "pipeline.auto-watermark-interval": "0 ms"}.items():
            self.tables.get_config().set(key, value)
        for name, (kinds, rows) in TABLES.items():
            Path(folder, f"{name}.json").write_text("".join(_json(row, list(kinds)) + "\n" for row in rows))
            columns = ", ".join(f"`{column}` {kind}" for column, kind in kinds.items())
            place = f"'path' = '{folder}/{name}.json', 'json.timestamp-format.standard' = 'SQL'"
            options = f"'connector' = 'filesystem', 'format' = 'json', {place}"
            self.tables.execute_sql(f"CREATE TABLE {name} ({columns}, WATERMARK FOR ts AS {WATERMARK}) WITH ({options})")
        self.tables.execute_sql(VERSIONS)

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


def main() -> None:
    """Record the queries that are new, or all with ``--all``."""
    queries = [line for line in (HERE / "sql_joins.txt").read_text().splitlines() if line and not line.startswith("#")]
    found = json.loads(TARGET.read_text()) if TARGET.exists() and "--all" not in sys.argv else {}
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(folder)
        for query in queries:
            if query not in found:
                found[query] = recorder.record(query)
                print(found[query].get("fails", len(found[query].get("rows", ()))), query[:100], flush=True)
    lines = ",\n".join(f"{json.dumps(query)}: {json.dumps(found[query])}" for query in queries)
    TARGET.write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    main()
