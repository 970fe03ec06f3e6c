"""Records which functions real Flink has: ``goldens/sql_function_names.json``, by kind the names that they are called by in SQL.

Run it with the interpreter of a virtual environment that holds real PyFlink 2.3 and a JDK 17 on the path.
"""

from __future__ import annotations

import json
from pathlib import Path

TARGET = Path(__file__).parent / "goldens" / "sql_function_names.json"


def main() -> None:
    """Record them."""
    from pyflink.java_gateway import get_gateway

    definitions = get_gateway().jvm.org.apache.flink.table.functions.BuiltInFunctionDefinitions.getDefinitions()
    kinds: dict[str, set[str]] = {}
    for definition in definitions:
        if not definition.isInternal():
            kinds.setdefault(definition.getKind().name(), set()).add(definition.getSqlName())
    found = {kind: sorted(names) for kind, names in sorted(kinds.items())}
    TARGET.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
