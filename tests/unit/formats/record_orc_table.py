"""Records what real Flink writes as a table of ORC and what it reads of it: ``flink_table_*.orc`` and ``flink_orc_table.json``.

Run it with the interpreter of a virtual environment that holds real PyFlink 2.3, and as arguments the paths of ``flink-sql-orc-2.3.0.jar``
and of Hadoop's ``hadoop-client-api`` and ``hadoop-client-runtime`` (those that PySpark brings will do).
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment

HERE = Path(__file__).parent


def main(jars: list[str]) -> None:
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    t_env.get_config().set("pipeline.jars", ";".join(Path(jar).resolve().as_uri() for jar in jars)).set("parallelism.default", "1")
    t_env.get_config().set("table.local-time-zone", "UTC")
    with tempfile.TemporaryDirectory() as out:
        *statements, query = (HERE / "orc_table.sql").read_text().replace("${out}", out).strip().rstrip(";").split(";\n")
        for statement in statements:
            t_env.execute_sql(statement).wait()
        for number, path in enumerate(sorted(Path(out).glob("part-*"))):
            shutil.copy(path, HERE / f"flink_table_{number}.orc")
        java = t_env.execute_sql(query)._j_table_result
        convert, rows = java.getRowDataToStringConverter(), java.collectInternal()
        found = []
        while rows.hasNext():
            found.append(list(convert.convert(rows.next())))
    (HERE / "flink_orc_table.json").write_text(re.sub(r"\], \[", "],\n[", json.dumps(found)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
