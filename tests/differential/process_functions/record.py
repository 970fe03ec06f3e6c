"""Records what Flink returns for ``queries.sql`` with the functions of ``Functions.java``: ``goldens.jsonl``.

Run it with the interpreter of a virtual environment that holds real PyFlink 2.3; a JDK 17 is on the path. With parts of queries as
arguments only queries with one of these are recorded again, and those that are new.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SQL_CASES = HERE.parents[1] / "sql_cases"
VIEWS = (
    "CREATE TABLE readings (id INT, who STRING, amount INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) "
    f"WITH ('connector' = 'filesystem', 'format' = 'csv', 'csv.null-literal' = '', 'path' = '{HERE}/readings.csv')",
    "CREATE TEMPORARY VIEW totals AS SELECT who, SUM(amount) AS total FROM orders GROUP BY who",
    "CREATE TEMPORARY VIEW amounts AS SELECT who, SUM(amount) AS amount FROM orders GROUP BY who",
    "CREATE TEMPORARY VIEW named AS SELECT * FROM orders WHERE who IS NOT NULL",
    "CREATE TEMPORARY VIEW latest AS SELECT id, who, amount, ts FROM ("
    "SELECT *, ROW_NUMBER() OVER (PARTITION BY who ORDER BY ts DESC) AS rn FROM readings) WHERE rn = 1",
)
UPSERTS = tuple(f"SELECT * FROM {name}(input => TABLE named PARTITION BY who)" for name in ("Upserting", "Adapting"))
"""Queries that are read as a stream of upserts with the primary key ``who``."""


def queries() -> list[str]:
    """Return the statements."""
    return [part.strip() for part in re.split(r";\s*$", (HERE / "queries.sql").read_text(), flags=re.MULTILINE) if part.strip()]


def upserts(t_env: Any, query: str) -> list[list[Any]]:
    """Return the rows of a query as upserts, with their kinds."""
    from pyflink.table import ChangelogMode, Schema

    schema = Schema.new_builder().column("who", "STRING NOT NULL").column("total", "INT").column("mode", "STRING").primary_key("who")
    stream = t_env.to_changelog_stream(t_env.sql_query(query), schema.build(), ChangelogMode.upsert())
    with stream.execute_and_collect() as rows:
        return [[str(row.get_row_kind()), *row] for row in rows]


def main() -> None:
    """Compile the functions, run the statements and write the outcomes."""
    import pyflink
    from pyflink.datastream import StreamExecutionEnvironment
    from pyflink.table import StreamTableEnvironment

    sys.path.insert(0, str(SQL_CASES))
    from record import error_text, outcome  # type: ignore[import-not-found]  # of sql_cases

    library = Path(pyflink.__file__).parent / "lib"
    with tempfile.TemporaryDirectory() as scratch:
        classes, jar = Path(scratch, "classes"), Path(scratch, "functions.jar")
        path = ":".join(map(str, library.glob("*.jar")))
        subprocess.run(["javac", "-parameters", "-cp", path, "-d", classes, HERE / "Functions.java"], check=True)
        subprocess.run(["jar", "cf", jar, "-C", classes, "."], check=True)
        environment = StreamExecutionEnvironment.get_execution_environment()
        environment.add_jars(f"file://{jar}")
        t_env = StreamTableEnvironment.create(environment)
        t_env.get_config().set("pipeline.jars", f"file://{jar}").set("parallelism.default", "1").set("table.local-time-zone", "UTC")
        t_env.get_config().set("restart-strategy.type", "disable")
        for name in ("orders", "customers", "canal_products"):
            t_env.execute_sql((SQL_CASES / "tables" / f"{name}.sql").read_text().replace("${data}", str(SQL_CASES / "data")).strip(" ;\n"))
        for view in VIEWS:
            t_env.execute_sql(view)
        for name in re.findall(r"public static class (\w+)", (HERE / "Functions.java").read_text()):
            t_env.execute_sql(f"CREATE TEMPORARY SYSTEM FUNCTION {name} AS 'Functions${name}' LANGUAGE JAVA")
        goldens = HERE / "goldens.jsonl"
        known = {json.loads(line)["query"]: line for line in goldens.read_text().splitlines()} if goldens.exists() else {}
        lines = []
        for query in queries():
            if query in known and sys.argv[1:] and not any(name in query for name in sys.argv[1:]):
                lines.append(known[query])
                continue
            found: dict[str, Any]
            try:
                found = outcome(t_env, query)
            except Exception as error:  # noqa: BLE001 - what fails in Flink is part of the record
                found = {"error": error_text(error).split("\n")[0]}
            lines.append(json.dumps({"query": query, **found}, ensure_ascii=False))
        lines += [json.dumps({"query": query, "upserts": upserts(t_env, query)}) for query in UPSERTS]
        goldens.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
