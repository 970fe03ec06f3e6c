"""Records what real Flink makes of the cases of ``table_watermark_cases.py``: ``goldens/table_watermarks.json``.

Run it with the interpreter of a virtual environment that holds real PyFlink 2.3 and a JDK 17 on the path. Names on the command line are the
cases to record anew. Python functions get bundles of one record, so that what a record does comes before the next watermark.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import table_watermark_cases as cases
from record_stream_tables import names
from record_table_programs import shown

TARGET = Path(__file__).parent / "goldens" / "table_watermarks.json"


def found(made: Any) -> list[Any]:
    """The rows of a table, or the texts of a stream, in their order."""
    if hasattr(made, "get_resolved_schema"):
        with made.execute().collect() as rows:
            return [[shown(value) for value in row] for row in rows]
    with made.execute_and_collect() as records:
        return list(records)


def main() -> None:
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    import pyflink.datastream.functions
    import pyflink.datastream.window

    x = names()
    for module in (pyflink.datastream.functions, pyflink.datastream.window, pyflink.common.time):
        vars(x).update({name: value for name, value in vars(module).items() if not name.startswith("_")})
    known = json.loads(TARGET.read_text()) if TARGET.exists() else {}
    for name in sys.argv[1:] or cases.CASES:
        config = x.Configuration()
        config.set_string("python.fn-execution.bundle.size", "1")
        env = x.StreamExecutionEnvironment.get_execution_environment(config)
        env.set_parallelism(1)
        t_env = x.StreamTableEnvironment.create(env)
        t_env.get_config().set("table.local-time-zone", "UTC")
        try:
            known[name] = found(cases.CASES[name](x, env, t_env))
        except Exception as error:  # noqa: BLE001 - what fails in Flink is part of the record
            known[name] = {"fails": str(error).split("\n\tat ")[0][:500]}
        print(name, str(known[name])[:150], flush=True)
        lines = [f"{json.dumps(each)}: {json.dumps(known[each], ensure_ascii=False)}" for each in cases.CASES if each in known]
        TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
