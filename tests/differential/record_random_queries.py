"""Records what real Flink returns for the queries of ``random_queries.py``, after all changes.

Run it with the interpreter of a virtual environment that holds real PyFlink 2.3 and a JDK 17 on the path. It reads and writes lines of
JSON, and leaves lines alone that have results::

    PYTHONPATH=src python -m tests.differential.random_queries 5000 500 > queries.jsonl
    python tests/differential/record_random_queries.py queries.jsonl recorded.jsonl

A result has the types of the columns, and the rows that are left as texts; ``fails`` with the message where Flink refuses the query.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

COLUMNS = {
    "k": "INT",
    "i": "INT",
    "l": "BIGINT",
    "d": "DOUBLE",
    "n": "DECIMAL(10, 2)",
    "s": "STRING",
    "b": "BOOLEAN",
    "dt": "DATE",
    "ts": "TIMESTAMP(3)",
}


def text_of(value: Any) -> str | None:
    """Return a value as a text: floating-point numbers to nine places and ten digits, decimals without zeros at the end."""
    if value is None:
        return None
    if isinstance(value, float):
        return f"{round(value, 9) + 0.0:.10g}" if math.isfinite(value) else str(value)
    name = type(value).__name__
    if name == "Decimal":
        text = f"{value:f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return "0" if text == "-0" else text
    return value.isoformat(" ", "milliseconds") if name == "datetime" else str(value)


def left(changes: list[tuple[str, tuple[str | None, ...]]]) -> list[list[str | None]]:
    """Return the rows that changes leave, sorted.

    Raises:
        ValueError: If one retracts a row that is not there.
    """
    rows: Counter[tuple[str | None, ...]] = Counter()
    for kind, row in changes:
        rows[row] += 1 if kind in ("+I", "+U") else -1
    if any(count < 0 for count in rows.values()):
        raise ValueError("a row was retracted that was not there")
    return sorted(([*row] for row in rows.elements()), key=lambda row: [(value is None, value or "") for value in row])


def statements(case: Mapping[str, Any], folder: Path) -> list[str]:
    """Write the rows of a case into files, and return the statements that declare the tables."""
    found = []
    for name, rows in case["tables"].items():
        timed = bool(name in ("e", "f"))
        columns = {**COLUMNS, **({"rt": "TIMESTAMP(3)"} if timed else {})}
        path = folder / f"{case['seed']}_{name}.json"
        changing = name == "u"
        lines = _changes(rows) if changing else (dict(zip(columns, row, strict=True)) for row in rows)
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        form = "canal-json" if changing else "json"
        declared = ", ".join(f"`{column}` {of}" for column, of in columns.items())
        watermark = ", WATERMARK FOR rt AS rt - INTERVAL '30' DAY" if timed else ""
        options = f"'connector' = 'filesystem', 'path' = '{path}', 'format' = '{form}', '{form}.timestamp-format.standard' = 'SQL'"
        found.append(f"CREATE TEMPORARY TABLE {name} ({declared}{watermark}) WITH ({options})")
    return found


def _changes(rows: list[list[Any]]) -> Any:
    """Yield changes as Canal writes them."""
    old = None
    for kind, *values in rows:
        row = dict(zip(COLUMNS, values, strict=True))
        if kind == "-U":
            old = row
        elif kind == "+U":
            yield {"data": [row], "old": [old], "type": "UPDATE", "database": "d", "table": "u", "ts": 1}
        else:
            yield {"data": [row], "old": None, "type": "INSERT" if kind == "+I" else "DELETE", "database": "d", "table": "u", "ts": 1}


def _result(t_env: Any, query: str) -> dict[str, Any]:
    try:
        result = t_env.execute_sql(query)
        types = [of.getLogicalType().asSummaryString() for of in result._j_table_result.getResolvedSchema().getColumnDataTypes()]
        with result.collect() as rows:
            changes = [(str(row.get_row_kind()), tuple(map(text_of, row))) for row in rows]
        return {"types": types, "rows": left(changes)}
    except Exception as error:  # noqa: BLE001 - what fails in Flink is part of the record
        java, last = getattr(error, "java_exception", None), str(error).split("\n")[0]
        while java is not None:
            last, java = f"{java.getClass().getSimpleName()}: {java.getMessage()}", java.getCause()
        return {"fails": last[:200]}


def main() -> None:
    """Record the results that are missing."""
    from pyflink.table import EnvironmentSettings, TableEnvironment

    cases = [json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines()]
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for key, value in {"parallelism.default": "1", "table.local-time-zone": "UTC", "restart-strategy.type": "disable"}.items():
        t_env.get_config().set(key, value)
    with tempfile.TemporaryDirectory() as folder, Path(sys.argv[2]).open("w") as recorded:
        for case in cases:
            if isinstance(case["queries"], list):
                for statement in statements(case, Path(folder)):
                    t_env.execute_sql(statement)
                case["queries"] = {query: _result(t_env, query) for query in case["queries"]}
                for name in case["tables"]:
                    t_env.execute_sql(f"DROP TEMPORARY TABLE {name}")
                print(case["seed"], sum("fails" in result for result in case["queries"].values()), "refused", flush=True)
            recorded.write(json.dumps(case, ensure_ascii=False, separators=(",", ":")) + "\n")
            recorded.flush()


if __name__ == "__main__":
    main()
