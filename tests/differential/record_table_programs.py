"""Records what real Flink makes of the cases of ``expression_cases.py``: ``goldens/table_programs.json``.

Run it with the interpreter of a virtual environment that holds real PyFlink 2.3 and a JDK 17 on the path; it takes some minutes. Names on
the command line are the cases to record anew. Rows are those of batch mode (of streaming
mode, where Flink has no other); what fails in Flink is recorded as ``{"fails": message}``.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import expression_cases as cases

TARGET = Path(__file__).parent / "goldens" / "table_programs.json"


def names() -> Any:
    """The names that cases use."""
    import pyflink.common
    import pyflink.table
    from pyflink.table import expression, expressions, udf, window

    found: dict[str, Any] = {}
    for module in (pyflink.common, pyflink.table, expressions, udf, window):
        found |= {name: value for name, value in vars(module).items() if not name.startswith("_")}
    return SimpleNamespace(**{**found, "expression": expression})


def shown(value: Any) -> Any:
    """A value as JSON that tells its type where JSON does not."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return {"float": repr(value)}
    if isinstance(value, bytearray):
        value = bytes(value)  # PyFlink returns either, depending on how rows came to the program
    if isinstance(value, list):
        return [shown(each) for each in value]
    if isinstance(value, dict):
        return {"map": sorted(([shown(key), shown(each)] for key, each in value.items()), key=repr)}
    if hasattr(value, "get_row_kind"):
        return {"row": [shown(each) for each in value]}
    return {type(value).__name__: str(value)}


def final_rows(table: Any) -> list[Any]:
    """The rows of a table after all changes, in the order in which they came."""
    found: list[Any] = []
    with table.execute().collect() as rows:
        for row in rows:
            values = [shown(value) for value in row]
            if row.get_row_kind().name in ("UPDATE_BEFORE", "DELETE"):
                found.remove(values)  # it fails if the row has not come
            else:
                found.append(values)
    return found


def recorded(name: str, x: Any, tables: Any) -> Any:
    try:
        table = cases.CASES[name](x, tables)
        schema = [f"{column.get_name()} {_type(column)}" for column in table.get_resolved_schema().get_columns()]
        found = final_rows(table)
    except Exception as error:  # noqa: BLE001 - what fails in Flink is part of the record
        return {"fails": str(error)[:1500]}
    return {"schema": schema, "rows": found if name in cases.ORDERED else sorted(found, key=repr)}


def _type(column: Any) -> str:
    return column._j_column.getDataType().getLogicalType().asSummaryString()


def main() -> None:
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    x = names()
    known = json.loads(TARGET.read_text()) if TARGET.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[1:] or cases.CASES:
            in_mode = x.EnvironmentSettings.in_streaming_mode if name in cases.STREAMING else x.EnvironmentSettings.in_batch_mode
            environment = x.TableEnvironment.create(in_mode())
            environment.get_config().set("parallelism.default", "1").set("table.local-time-zone", "UTC")
            known[name] = recorded(name, x, cases.tables(x, environment, folder))
            print(name, known[name].get("fails", "")[:200], flush=True)
            write(TARGET, {name: known[name] for name in cases.CASES if name in known})


def write(target: Path, found: dict[str, Any]) -> None:
    """Write a line per case."""
    lines = [f" {json.dumps(name)}: {json.dumps(each, ensure_ascii=False)}" for name, each in found.items()]
    target.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
