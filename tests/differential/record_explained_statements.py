"""Records what real Flink explains of the statements of ``explain_statements.txt``: ``goldens/explained_statements.json``.

Each is explained as groups are aggregated by default and in one phase, and some as JSON.

Run it with the interpreter of a virtual environment that holds real PyFlink 2.3 and a JDK 17 on the path.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

HERE = Path(__file__).parent
TARGET = HERE / "goldens" / "explained_statements.json"
STRATEGIES = ("AUTO", "ONE_PHASE")
AS_JSON = ("filter", "group_count", "inner_join", "insert")
_SECTION = re.compile(r"^-- (\w+)$", re.MULTILINE)


def statements() -> tuple[list[str], dict[str, str]]:
    """Return the definitions of the tables, and the statements by their names."""
    _, *parts = _SECTION.split((HERE / "explain_statements.txt").read_text())
    found = dict(zip(parts[::2], (part.strip() for part in parts[1::2]), strict=True))
    tables = found.pop("tables")
    return [each.strip() for each in tables.split(";\n")], found


def main() -> None:
    """Record all."""
    from pyflink.table import EnvironmentSettings, TableEnvironment

    told: dict[str, dict[str, str]] = {}
    tables, found = statements()
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    t_env.get_config().set("table.local-time-zone", "UTC")
    t_env.get_config().set("parallelism.default", "1")
    for table in tables:
        t_env.execute_sql(table.removesuffix(";"))
    for strategy in STRATEGIES:
        t_env.get_config().set("table.optimizer.agg-phase-strategy", strategy)
        for name, statement in found.items():
            (row,) = t_env.execute_sql(f"EXPLAIN CHANGELOG_MODE, PLAN_ADVICE {statement}").collect()
            told.setdefault(name, {})[strategy] = row[0]
    for name in AS_JSON:
        (row,) = t_env.execute_sql(f"EXPLAIN JSON_EXECUTION_PLAN {found[name]}").collect()
        told[name]["JSON"] = row[0]
    TARGET.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
