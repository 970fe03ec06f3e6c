"""Records what Hive 2.3.10 returns for the queries of ``hive_queries.txt``: ``goldens/hive_queries.json``.

Hive's own driver runs them in one JVM, with MapReduce in the same process and a metastore of Derby in memory. Its classes are among the
jars of PySpark 4; two jars that Spark leaves out (``hive-llap-common`` and ``hive-llap-client`` 2.3.10, of Maven Central) are given as a
folder::

    python record_hive_queries.py FOLDER_OF_JARS [--all]

Queries that were recorded before are not run again without ``--all``.

A JDK 17 is needed on the path. Recorded are the rows as Hive prints them, columns with a tab between them; ``fails`` with the message where
Hive refuses a query. Without Calcite (``hive.cbo.enable`` is off) Hive does not read INTERSECT and EXCEPT.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyspark

HERE = Path(__file__).parent
TARGET = HERE / "goldens" / "hive_queries.json"
_OPENED = (
    "java.io java.lang java.lang.invoke java.lang.reflect java.math java.net java.nio java.text java.time java.util java.util.concurrent "
    "java.util.concurrent.atomic java.util.regex sun.nio.ch sun.nio.cs sun.util.calendar"
)


def statements(name: str) -> list[str]:
    """Return the statements of a file of this folder."""
    return [line for line in (HERE / name).read_text().splitlines() if line and not line.startswith("#")]


def main() -> None:
    """Record all queries."""
    jars = [f"{Path(pyspark.__file__).parent}/jars/*", f"{Path(sys.argv[1]).resolve()}/*"]
    known = json.loads(TARGET.read_text()) if TARGET.exists() and "--all" not in sys.argv else {}
    queries = [query for query in statements("hive_queries.txt") if query not in known]
    lines = [*statements("hive_query_tables.txt"), *(query.removeprefix("ordered: ") for query in queries)]
    opened = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED.split()]
    with tempfile.TemporaryDirectory() as folder:
        quiet = Path(folder) / "log4j2.properties"
        quiet.write_text("rootLogger.level = off\n")
        command = ["java", *opened, "-Duser.timezone=UTC", f"-Dlog4j2.configurationFile={quiet}", "-cp", ":".join(jars)]
        source = str(HERE / "java" / "HiveQueries.java")
        run = subprocess.run(
            [*command, source],
            input="\n".join(lines) + "\n",
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
            cwd=folder,
        )
    answers: list[dict[str, Any]] = []
    rows: list[str] = []
    for line in run.stdout.splitlines():
        kind, _, text = line.partition(" ")
        if kind == "row":
            rows.append(text)
        elif kind in ("end", "failed"):
            answers.append({"rows": rows} if kind == "end" else {"fails": text[:200]})
            rows = []
    if len(answers) != len(lines):
        raise SystemExit(f"{len(lines)} statements were run, {len(answers)} have answered")
    new = dict(zip(queries, answers[len(answers) - len(queries) :], strict=True))
    found = {query: known.get(query) or new[query] for query in statements("hive_queries.txt")}
    texts = ",\n".join(f"{json.dumps(query, ensure_ascii=False)}: {json.dumps(each, ensure_ascii=False)}" for query, each in found.items())
    TARGET.write_text(f"{{\n{texts}\n}}\n")


if __name__ == "__main__":
    main()
