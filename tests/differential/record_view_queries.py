"""Records how real Flink shows views (SHOW CREATE VIEW) of the queries of ``view_queries.txt``: ``goldens/view_queries.json``.

Run it with the interpreter of a virtual environment that holds real PyFlink 2.3 and a JDK 17 on the path.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

HERE = Path(__file__).parent
TARGET = HERE / "goldens" / "view_queries.json"
_SECTION = re.compile(r"^-- (\w+)$", re.MULTILINE)


def queries() -> tuple[list[str], dict[str, str]]:
    """Return the definitions of the tables, and the queries by their names."""
    _, *parts = _SECTION.split((HERE / "view_queries.txt").read_text())
    found = dict(zip(parts[::2], (part.strip() for part in parts[1::2]), strict=True))
    tables = found.pop("tables")
    return [each.removesuffix(";") for each in tables.split(";\n")], found


def definition(name: str, query: str) -> str:
    """Return the statement that makes a view of a query; the query itself if it is one."""
    return query if query.startswith("CREATE") else f"CREATE VIEW v_{name} AS {query}"


def main() -> None:
    """Record all."""
    from pyflink.table import EnvironmentSettings, TableEnvironment

    tables, found = queries()
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for table in tables:
        t_env.execute_sql(table)
    told = {}
    for name, query in found.items():
        t_env.execute_sql(definition(name, query))
        (row,) = t_env.execute_sql(f"SHOW CREATE VIEW v_{name}").collect()
        told[name] = row[0]
    TARGET.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
