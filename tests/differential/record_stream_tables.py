"""Records what real Flink makes of the cases of ``stream_table_cases.py``: ``goldens/stream_tables.json``.

Run it with the interpreter of a virtual environment that holds real PyFlink 2.3 and a JDK 17 on the path. Names on the command line are the
cases to record anew. Of a table its types and its rows after all changes are recorded; of a stream its records after all changes: a row
that tells an update or a deletion stands with its kind where the mode is of upserts, as nothing takes it back.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import stream_table_cases as cases
from record_table_programs import _type, final_rows, shown, write

TARGET = Path(__file__).parent / "goldens" / "stream_tables.json"


def names() -> Any:
    """The names that cases use."""
    import pyflink.common.watermark_strategy
    import pyflink.datastream
    import pyflink.table
    from pyflink.table import expressions, udf, window

    found: dict[str, Any] = {}
    for module in (pyflink.common, pyflink.common.watermark_strategy, pyflink.datastream, pyflink.table, expressions, udf, window):
        found |= {name: value for name, value in vars(module).items() if not name.startswith("_")}
    return SimpleNamespace(**found)


def final_records(stream: Any) -> list[Any]:
    """The records of a stream after all changes; upserts by their key, the first field."""
    found: list[Any] = []
    with stream.execute_and_collect() as records:
        every = list(records)
    upserts = any(_kind(record) == "UPDATE_AFTER" for record in every) and all(_kind(record) != "UPDATE_BEFORE" for record in every)
    for record in every:
        values = _told(record)
        if upserts:
            found = [each for each in found if each[0] != values[0]]
        if _kind(record) in ("UPDATE_BEFORE", "DELETE"):
            found.remove(values)  # it fails if the row has not come
        else:
            found.append(values)
    return sorted(found, key=repr)


def _kind(record: Any) -> str:
    if isinstance(record, tuple) and record and isinstance(record[0], bool):
        return "INSERT" if record[0] else "DELETE"
    return str(record.get_row_kind().name) if hasattr(record, "get_row_kind") else "INSERT"


def _told(record: Any) -> Any:
    if isinstance(record, tuple) and record and isinstance(record[0], bool):
        record = record[1]
    if hasattr(record, "get_row_kind"):
        return [*map(shown, record), getattr(record, "_fields", None)]
    return [shown(each) for each in record] if isinstance(record, tuple) else [shown(record)]


def recorded(name: str, x: Any) -> Any:
    env = x.StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    t_env = x.StreamTableEnvironment.create(env)
    t_env.get_config().set("table.local-time-zone", "UTC")
    try:
        made = cases.CASES[name](x, env, t_env)
        if not hasattr(made, "get_resolved_schema"):
            return {"records": final_records(made)}
        schema = [f"{column.get_name()} {_type(column)}" for column in made.get_resolved_schema().get_columns()]
        return {"schema": schema, "rows": sorted(final_rows(made), key=repr)}
    except Exception as error:  # noqa: BLE001 - what fails in Flink is part of the record
        return {"fails": str(error)[:1500]}


def main() -> None:
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    x = names()
    known = json.loads(TARGET.read_text()) if TARGET.exists() else {}
    for name in sys.argv[1:] or cases.CASES:
        known[name] = recorded(name, x)
        print(name, known[name].get("fails", "")[:300], flush=True)
        write(TARGET, {name: known[name] for name in cases.CASES if name in known})


if __name__ == "__main__":
    main()
