"""Records what real Flink returns for the cases: ``goldens.jsonl``, one line per case and mode.

Run it with the interpreter of a virtual environment that holds real PyFlink 2.3 and a JDK 17 on the path; with names of cases as arguments
only these are recorded again. Values are the texts by which Flink prints them.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from case_files import GOLDENS, Case, all_cases

_NOISE = re.compile(r"^[\w.$]*(?:Exception|Error): ")


def error_text(error: BaseException) -> str:
    """Return what went wrong, by the innermost cause."""
    cause = getattr(error, "java_exception", None)
    if cause is None:
        return str(error)
    while cause.getCause() is not None:
        cause = cause.getCause()
    return _NOISE.sub("", cause.getMessage() or cause.getClass().getSimpleName()).split("\n\tat ")[0]


def outcome(t_env: Any, statement: str) -> dict[str, Any]:
    """Return what a statement brings."""
    result = t_env.execute_sql(statement)
    if re.match(r"INSERT|EXECUTE|COMPILE AND|CREATE TABLE.* AS SELECT", statement, re.DOTALL):
        result.wait()
        return {"job": True}
    java = result._j_table_result
    schema = java.getResolvedSchema()
    columns = [[column.getName(), column.getDataType().toString()] for column in schema.getColumns()]
    convert = java.getRowDataToStringConverter()
    rows = []
    iterator = java.collectInternal()
    while iterator.hasNext():
        row = iterator.next()
        rows.append([row.getRowKind().shortString(), *convert.convert(row)])
    iterator.close()
    return {"columns": columns, "rows": rows}


def run(case: Case, mode: str) -> dict[str, Any]:
    """Return what the statements of a case bring, up to the first error."""
    from pyflink.table import EnvironmentSettings, TableEnvironment

    settings = EnvironmentSettings.in_streaming_mode() if mode == "streaming" else EnvironmentSettings.in_batch_mode()
    t_env = TableEnvironment.create(settings)
    t_env.get_config().set("parallelism.default", "1").set("table.local-time-zone", "UTC")
    t_env.get_config().set("restart-strategy.type", "disable")  # a job that fails would start for ever
    for key, value in case.options.items():
        t_env.get_config().set(key, value)
    outcomes: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as out:
        for statement in case.statements(out):
            try:
                outcomes.append(outcome(t_env, statement))
            except Exception as error:  # noqa: BLE001 - what fails in Flink is part of the record
                outcomes.append({"error": error_text(error).replace(out, "${out}").replace(str(case.data), "${data}")})
                break
    return {"case": case.name, "mode": mode, "outcomes": outcomes}


def main(names: list[str]) -> None:
    """Record all cases, or those of these names."""
    known = {}
    if GOLDENS.exists() and names:
        known = {(golden["case"], golden["mode"]): golden for golden in map(json.loads, GOLDENS.read_text().splitlines())}
    for case in all_cases():
        for mode in case.modes:
            if not names or case.name in names or (case.name, mode) not in known:
                known[case.name, mode] = run(case, mode)
                save(known)


def save(known: dict[tuple[str, str], dict[str, Any]]) -> None:
    """Write what is known of the cases that there are."""
    there = {case.name for case in all_cases()}
    lines = [json.dumps(known[key], ensure_ascii=False) for key in sorted(known) if key[0] in there]
    GOLDENS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
