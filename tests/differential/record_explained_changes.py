"""Records which kinds of changes real Flink says its operators emit (EXPLAIN CHANGELOG_MODE): ``goldens/explained_changes.json``.

Run it with the interpreter of a virtual environment that holds real PyFlink 2.3 and a JDK 17 on the path.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
TARGET = HERE / "goldens" / "explained_changes.json"
CASES = """
agg_distinct agg_group_by agg_of_agg agg_on_changes dedup_first dedup_first_by_clock dedup_first_mini_batch dedup_first_windows
dedup_last join_inner join_interval join_left join_of_aggregates join_on_changes join_temporal match_falls over_rows scan_debezium
set_intersect set_union subquery_in subquery_not_exists top_n top_n_of_aggregate window_join window_top_n window_tumble
""".split()
_OPERATOR = re.compile(r"[ :+|-]*([A-Z]\w+)\(.*changelogMode=\[([A-Z,]*)\]")
_QUERY = re.compile("SELECT|WITH|VALUES")


def operators(text: str) -> list[list[str]]:
    """Return the operators of a plan from the top, each with the kinds of changes that it emits."""
    return [list(found.groups()) for found in map(_OPERATOR.match, text.splitlines()) if found]


def main() -> None:
    """Record all."""
    sys.path.insert(0, str(HERE.parent / "sql_cases"))
    from case_files import all_cases
    from pyflink.table import EnvironmentSettings, TableEnvironment

    told = []
    for case in (each for each in all_cases() if each.name in CASES):
        t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        for key, value in {"table.local-time-zone": "UTC", **case.options}.items():
            t_env.get_config().set(key, value)
        with tempfile.TemporaryDirectory() as out:
            for statement in case.statements(out):
                if not _QUERY.match(statement):
                    t_env.execute_sql(statement)
                    continue
                (row,) = t_env.execute_sql(f"EXPLAIN CHANGELOG_MODE {statement}").collect()
                physical = row[0].partition("== Optimized Physical Plan ==")[2].partition("== Optimized Execution Plan ==")[0]
                told.append({"case": case.name, "operators": operators(physical)})
    TARGET.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
