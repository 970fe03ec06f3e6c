"""Records which statements of ``sql_statements.txt`` real Flink can read: ``goldens/sql_statements.json``.

Run it with the interpreter of a virtual environment that holds real PyFlink 2.3 and a JDK 17 on the path. Only reading is of interest: a
statement that Flink reads and then refuses, because a table is not there, counts as read.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TARGET = HERE / "goldens" / "sql_statements.json"
_PLACE = re.compile(r"line (\d+), column (\d+)")


def statements() -> list[str]:
    """Return the statements, one a line."""
    return (HERE / "sql_statements.txt").read_text().splitlines()


def outcome(parser: Any, sql: str) -> dict[str, Any]:
    """Return whether a statement is read; if not, the place that Flink names."""
    try:
        parser.parse(sql)
    except Exception as error:  # noqa: BLE001 - what fails in Flink is part of the record
        java = getattr(error, "java_exception", None)
        while java is not None:
            if java.getClass().getSimpleName() in ("SqlParserException", "SqlParserEOFException"):
                place = _PLACE.search(java.getMessage() or "")
                return {"sql": sql, "reads": False, "place": [int(place[1]), int(place[2])] if place else None}
            java = java.getCause()
    return {"sql": sql, "reads": True}


def main() -> None:
    """Record all."""
    from pyflink.table import EnvironmentSettings, TableEnvironment

    parser = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())._j_tenv.getParser()
    TARGET.write_text("\n".join(["[", ",\n".join(json.dumps(outcome(parser, sql)) for sql in statements()), "]", ""]))


if __name__ == "__main__":
    main()
