"""Records which functions real Flink calls where a user's function has the name of a built-in one: ``goldens/function_precedence.json``.

Run it with the interpreter of a virtual environment that holds real PyFlink 2.3 and a JDK 17 on the path.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
TARGET = HERE / "goldens" / "function_precedence.json"


def main() -> None:
    """Record all."""
    sys.path.insert(0, str(HERE))
    from function_precedence_cases import KINDS, SQL, TABLE, outcome
    from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment, expressions
    from pyflink.table.udf import udf

    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    found = {"core": sorted(row[0].upper() for row in t_env.execute_sql("SHOW FUNCTIONS").collect())}
    for api, cases in (("sql", SQL), ("table", TABLE)):
        for kind in KINDS:
            told = []
            for case in range(len(cases)):
                t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
                told.append(outcome(t_env, api, kind, case, udf, DataTypes, expressions))
            found[f"{api} {kind}"] = told
    TARGET.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
