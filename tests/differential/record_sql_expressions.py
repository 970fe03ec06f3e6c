"""Records what real Flink says to the expressions of ``sql_expressions.txt`` and others, in ``goldens``.

Run it with the interpreter of a virtual environment that holds real PyFlink 2.3 and a JDK 17 on the path; it takes some minutes. Names of
files given to it are the only ones that are recorded anew. Each
expression is evaluated over the rows of ``sql_samples.py``, in the order of ``n``. Recorded are the type and, by row, the value as
text: what Java's ``toString`` says, in Flink's own external form; or ``fails`` with the message where Flink refuses the expression, and
``fails at`` the first row that it cannot be evaluated for.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))


def message(error: BaseException) -> str:
    java, last = getattr(error, "java_exception", None), str(error).split("\n")[0]
    while java is not None:
        last = f"{java.getClass().getSimpleName()}: {java.getMessage()}"
        java = java.getCause()
    return last[:300]


class Recorder:
    """Asks Flink."""

    def __init__(self, folder: str) -> None:
        from pyflink.table import EnvironmentSettings, TableEnvironment
        from sql_samples import COLUMNS, ROWS

        for number, row in enumerate(ROWS, 1):
            path = Path(folder, str(number))
            path.mkdir()
            (path / "rows.json").write_text(row + "\n")
        self.tables = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        self.tables.get_config().set("parallelism.default", "1")
        columns = ", ".join(f"`{name}` {kind}" for name, kind in COLUMNS.items())
        options = "'connector' = 'filesystem', 'format' = 'json', 'json.timestamp-format.standard' = 'SQL'"
        for name, place in [("samples", folder), *((f"sample{i}", f"{folder}/{i}") for i in range(1, len(ROWS) + 1))]:
            self.tables.execute_sql(
                f"CREATE TABLE {name} ({columns}) WITH ({options}, 'path' = '{place}', 'source.path.regex-pattern' = '.*rows.json')"
            )

    def types(self, expressions: list[str]) -> list[Any]:
        """Return the type of each expression, or why there is none."""
        found: list[Any] = []
        for expression in expressions:
            try:
                table = self.tables.sql_query(f"SELECT {expression} AS x FROM samples")
                found.append({"type": table._j_table.getResolvedSchema().getColumnDataTypes().get(0).getLogicalType().asSummaryString()})
            except Exception as error:  # noqa: BLE001 - what fails in Flink is part of the record
                found.append({"fails": message(error)})
        return found

    def rows(self, table: str, expressions: list[str]) -> list[list[str | None]]:
        """Return the values, by row."""
        shown = ", ".join(f"{expression} AS x{i}" for i, expression in enumerate(expressions))
        iterator = self.tables._j_tenv.executeSql(f"SELECT n AS nn, {shown} FROM {table}").collect()
        found = []
        while iterator.hasNext():
            row = iterator.next()
            found.append([None if row.getField(i) is None else self.text(row.getField(i)) for i in range(row.getArity())])
        iterator.close()
        return sorted(found, key=lambda row: int(row[0] or 0))

    def text(self, value: Any) -> str:
        from pyflink.java_gateway import get_gateway

        jvm = get_gateway().jvm
        return str(jvm.org.apache.flink.util.StringUtils.arrayAwareToString(value))

    def record(self, expressions: list[str]) -> list[dict[str, Any]]:
        """Return the record of all expressions."""
        found = [{"expression": expression, **kind} for expression, kind in zip(expressions, self.types(expressions), strict=True)]
        self._evaluate([entry for entry in found if "type" in entry])
        return found

    def _evaluate(self, entries: list[dict[str, Any]]) -> None:
        if not entries:
            return
        try:
            rows = self.rows("samples", [entry["expression"] for entry in entries])
        except Exception as error:  # noqa: BLE001 - halved until the one is found that fails
            if len(entries) > 1:
                middle = len(entries) // 2
                self._evaluate(entries[:middle])
                self._evaluate(entries[middle:])
                return
            self._one_by_one(entries[0], message(error))
            return
        for i, entry in enumerate(entries, 1):
            entry["values"] = [row[i] for row in rows]

    def _one_by_one(self, entry: dict[str, Any], why: str) -> None:
        from sql_samples import ROWS

        values: list[Any] = []
        for i in range(1, len(ROWS) + 1):
            try:
                values.append(self.rows(f"sample{i}", [entry["expression"]])[0][1])
            except Exception as error:  # noqa: BLE001 - a row that it cannot be evaluated for
                values.append({"fails": message(error)})
        entry.update(values=values)
        if not any(isinstance(value, dict) for value in values):
            entry["fails"] = why


def main() -> None:
    """Record all."""
    from sql_samples import ZONES

    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(folder)
        for name in sys.argv[1:] or ZONES:
            recorder.tables.get_config().set("table.local-time-zone", ZONES[name])
            expressions = (HERE / f"{name}.txt").read_text().splitlines()
            found = [entry for i in range(0, len(expressions), 40) for entry in recorder.record(expressions[i : i + 40])]
            lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in found)
            (HERE / "goldens" / f"{name}.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
