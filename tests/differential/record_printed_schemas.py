"""Records how real Flink prints the schemas of ``printed_schema_cases.py``: ``goldens/printed_schemas.json``.

Run it with the interpreter of a virtual environment that holds real PyFlink 2.3 and a JDK 17 on the path.
"""

from __future__ import annotations

import json
from pathlib import Path

from printed_schema_cases import CASES, printed
from record_stream_tables import names

TARGET = Path(__file__).parent / "goldens" / "printed_schemas.json"


def main() -> None:
    x = names()
    found = {}
    for name, case in CASES.items():
        env = x.StreamExecutionEnvironment.get_execution_environment()
        t_env = x.StreamTableEnvironment.create(env)
        t_env.get_config().set("table.local-time-zone", "UTC")
        found[name] = printed(case(x, env, t_env))
        t_env.execute_sql("DROP TEMPORARY TABLE IF EXISTS created")
    TARGET.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
