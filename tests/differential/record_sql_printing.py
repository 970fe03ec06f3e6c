"""Records what ``TableResult.print()`` of real Flink writes: ``goldens/sql_printing.json``.

Run it with the interpreter of a virtual environment that holds real PyFlink 2.3 and a JDK 17 on the path.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parent / "goldens" / "sql_printing.json"
TYPES = (
    "CAST(1 AS TINYINT) a, CAST(2 AS SMALLINT) b, 3 c, CAST(4 AS BIGINT) d, CAST(1.5 AS FLOAT) e, CAST(1E10 AS DOUBLE) f, "
    "CAST(1.25 AS DECIMAL(10, 3)) g, TRUE h, 'x' i, CAST('some text' AS STRING) j, CAST(NULL AS INT) k, DATE '2024-02-29' l, "
    "TIME '10:11:12' m, TIMESTAMP '2024-02-29 10:11:12.123' n, CAST(TIMESTAMP '2024-02-29 10:11:12' AS TIMESTAMP(0)) o, x'0A1f' p, "
    "ARRAY['a', CAST(NULL AS STRING)] q, MAP['k', 1] r, ROW(1, 'b', TRUE) s, INTERVAL '1' DAY t, INTERVAL '2' MONTH u, "
    "CAST('a text that is longer than thirty characters' AS STRING) v, CAST(1 AS BOOLEAN) as a_column_of_a_long_name"
)
STATEMENTS = [
    f"SELECT {TYPES}",
    "SELECT a, b FROM (VALUES (1, 'x'), (2, 'yy')) AS t (a, b)",
    "SELECT a FROM (VALUES (1)) AS t (a) WHERE a > 1",
    "SELECT a AS `größe 日本語`, '日本語 text of wide characters and so on' AS b FROM (VALUES (1)) AS t (a)",
    "SHOW CATALOGS",
    "SHOW VIEWS",
    "CREATE TABLE t (a INT NOT NULL, b STRING, PRIMARY KEY (a) NOT ENFORCED) WITH ('connector' = 'blackhole')",
    "DESCRIBE t",
    "SHOW CREATE TABLE t",
    "INSERT INTO t VALUES (1, 'a')",
    "EXECUTE STATEMENT SET BEGIN INSERT INTO t VALUES (1, 'a'); INSERT INTO t VALUES (2, 'b'); END",
    "DROP TABLE t",
]


def printed(t_env: Any, statement: str) -> str:
    """Return what printing the result of a statement writes."""
    from pyflink.java_gateway import get_gateway

    jvm = get_gateway().jvm
    stream = jvm.java.io.ByteArrayOutputStream()
    before = jvm.java.lang.System.out
    jvm.java.lang.System.setOut(jvm.java.io.PrintStream(stream, True, "UTF-8"))
    try:
        t_env.execute_sql(statement).print()
    finally:
        jvm.java.lang.System.setOut(before)
    return str(stream.toString("UTF-8"))


def main() -> None:
    """Record all."""
    from pyflink.table import EnvironmentSettings, TableEnvironment

    recorded = []
    for mode, settings in (("streaming", EnvironmentSettings.in_streaming_mode()), ("batch", EnvironmentSettings.in_batch_mode())):
        t_env = TableEnvironment.create(settings)
        t_env.get_config().set("parallelism.default", "1").set("table.local-time-zone", "UTC")
        recorded += [{"mode": mode, "sql": sql, "printed": printed(t_env, sql)} for sql in STATEMENTS]
    TARGET.write_text(json.dumps(recorded, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
