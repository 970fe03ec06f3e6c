"""Records what real Flink makes of the cases of ``table_answer_cases.py``: ``goldens/table_answers.json``.

Run it with the interpreter of a virtual environment that holds real PyFlink 2.3 and a JDK 17 on the path; it takes some minutes. Names on
the command line are the cases to record anew. What fails in Flink is recorded as ``{"fails": message}``.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import table_answer_cases as cases
from record_stream_tables import names

TARGET = Path(__file__).parent / "goldens" / "table_answers.json"


def recorded(case: cases.Case, x: Any, env: Any, t_env: Any) -> Any:
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return case(x, env, t_env)
    except Exception as error:  # noqa: BLE001 - what fails in Flink is part of the record
        return {"fails": str(error).split("\n\tat ")[0][:300]}


def main() -> None:
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    from pyflink.datastream import StreamExecutionEnvironment
    from pyflink.table import EnvironmentSettings, StreamTableEnvironment, TableEnvironment, udf

    x = names()
    for name in ("udf", "udtf", "udaf"):
        setattr(x, name, getattr(udf, name))
    x.batch = lambda: TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    found = json.loads(TARGET.read_text(encoding="utf-8")) if TARGET.exists() else {}
    for name in sys.argv[1:] or cases.CASES:
        env = StreamExecutionEnvironment.get_execution_environment()
        env.set_parallelism(1)
        found[name] = recorded(cases.CASES[name], x, env, StreamTableEnvironment.create(env))
    kept = {name: found[name] for name in cases.CASES if name in found}
    TARGET.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
