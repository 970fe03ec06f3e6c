"""Records the changelogs of real Flink for the cases of ``changelog_cases.py``: ``goldens/changelogs.json``.

Run it with the interpreter of a virtual environment that holds real PyFlink 2.3 and a JDK 17 on the path; it takes some minutes. Names on
the command line are the cases to record anew. Rows are sent one by one with a pause, so that those of both sides of a join come in the
order in which they stand. What fails in Flink is recorded as ``{"fails": message}``.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import changelog_cases as cases
from record_table_programs import shown

TARGET = Path(__file__).parent / "goldens" / "changelogs.json"
_PAUSE = 0.03


def recorded(name: str) -> Any:
    from pyflink.common import Configuration, Row, RowKind, Types
    from pyflink.datastream import StreamExecutionEnvironment
    from pyflink.table import StreamTableEnvironment

    given, sql = cases.CASES[name]
    config = Configuration()
    config.set_string("python.fn-execution.bundle.size", "1")
    config.set_string("execution.buffer-timeout.interval", "0 ms")
    env = StreamExecutionEnvironment.get_execution_environment(config)
    env.set_parallelism(1)
    t_env = StreamTableEnvironment.create(env)
    t_env.get_config().set("table.local-time-zone", "UTC")
    kinds = {"+I": RowKind.INSERT, "-U": RowKind.UPDATE_BEFORE, "+U": RowKind.UPDATE_AFTER, "-D": RowKind.DELETE}
    types = {"INT": Types.INT(), "STRING": Types.STRING(), "DOUBLE": Types.DOUBLE()}
    is_sided = given.startswith("joined")
    columns = cases.SIDED if is_sided else cases.COLUMNS
    info = Types.ROW_NAMED([column for column, _ in columns], [types[of] for _, of in columns])
    rows = []
    for kind, values in cases.INPUTS[given]:
        row = Row(*values)
        row.set_row_kind(kinds[kind])
        rows.append(row)

    def paused(row: Any) -> Any:
        time.sleep(_PAUSE)
        return row

    stream = env.from_collection(rows, info)
    if is_sided:
        stream = stream.map(paused, info)
    appends = all(kind == "+I" for kind, _ in cases.INPUTS[given])
    table = t_env.from_data_stream(stream) if appends else t_env.from_changelog_stream(stream)
    t_env.create_temporary_view("t", table)
    if is_sided:
        for view, side in (("l", "L"), ("r", "R")):
            t_env.execute_sql(f"CREATE TEMPORARY VIEW {view} AS SELECT id, k, v, d, s FROM t WHERE side = '{side}'")
    try:
        with t_env.sql_query(sql).execute().collect() as found:
            return [[str(row.get_row_kind()), *map(shown, row)] for row in found]
    except Exception as error:  # noqa: BLE001 - what fails in Flink is part of the record
        return {"fails": str(error).split("\n\tat ")[0][:300]}


def main() -> None:
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    known = json.loads(TARGET.read_text()) if TARGET.exists() else {}
    for name in sys.argv[1:] or cases.CASES:
        known[name] = recorded(name)
        print(name, len(known[name]), known[name].get("fails", "") if isinstance(known[name], dict) else "", flush=True)
        lines = [f"{json.dumps(each)}: {json.dumps(known[each], ensure_ascii=False)}" for each in cases.CASES if each in known]
        TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
