"""Records what real Flink makes of the cases of ``table_cases.py``: ``goldens/table_api.json``.

Run it with the interpreter of a virtual environment that holds real PyFlink 2.3 and a JDK 17 on the path; it takes some minutes.
What fails in Flink is recorded as ``{"fails": [messages]}``, from the outermost cause to the innermost.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from typing import Any

HERE = Path(__file__).parent
TARGET = HERE / "goldens" / "table_api.json"


def messages(error: BaseException) -> list[str]:
    """The messages of a Java exception and its causes; PyFlink turns some into texts with a stack trace."""
    java, found = getattr(error, "java_exception", None), []
    while java is not None:
        found.append(f"{java.getClass().getSimpleName()}: {java.getMessage()}")
        java = java.getCause()
    return found or [str(error).split("\n\tat ")[0]]


def tried(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except Exception as e:  # noqa: BLE001 - what fails in Flink is part of the record
        return {"fails": messages(e)}


class Recorder:
    def __init__(self) -> None:
        import pyflink.common
        import pyflink.table
        from pyflink.datastream import StreamExecutionEnvironment

        common = {"Types": pyflink.common.Types, "ConfigOptions": pyflink.common.ConfigOptions}
        self.api = SimpleNamespace(**common, **{name: getattr(pyflink.table, name) for name in pyflink.table.__all__})
        # Not chained: what a function sees is what came out of Flink's serializers.
        unchained = pyflink.common.Configuration().set_string("python.operator-chaining.enabled", "false")
        self.env = StreamExecutionEnvironment.get_execution_environment(unchained)
        self.env.set_parallelism(1)
        self.tables = pyflink.table.StreamTableEnvironment.create(self.env)
        self.count = 0

    def stream_of(self, columns: dict[str, Any], options: dict[str, str]) -> Any:
        self.count += 1
        builder, table = self.api.Schema.new_builder(), self.api.TableDescriptor.for_connector("datagen")
        for name, kind in columns.items():
            builder.column(name, kind)
        for key, value in options.items():
            table.option(key, value)
        self.tables.create_temporary_table(f"t{self.count}", table.schema(builder.build()).build())
        return self.tables.to_data_stream(self.tables.from_path(f"t{self.count}"))

    def data_type(self, data_type: Any) -> dict[str, Any]:
        from pyflink.table.types import _to_java_data_type

        summary = tried(lambda: _to_java_data_type(data_type).getLogicalType().asSummaryString())
        stream = tried(lambda: str(self.stream_of({"f": data_type}, {"number-of-rows": "1"}).get_type()))
        return {"repr": repr(data_type), "str": str(data_type), "summary": summary, "type_info": stream}

    def parsed(self, text: str) -> Any:
        from pyflink.java_gateway import get_gateway

        jvm = get_gateway().jvm
        loader = jvm.Thread.currentThread().getContextClassLoader()
        kind = jvm.org.apache.flink.table.types.logical.utils.LogicalTypeParser.parse(text, loader)
        if kind.getTypeRoot().name() == "UNRESOLVED":
            raise ValueError(f"user-defined type {kind}")
        return kind.asSummaryString()

    def generated(self, table: Any) -> Any:
        stream = self.stream_of(table.columns, table.options)
        if not table.rows:
            raise SystemExit(f"a table that was to be refused was read: {table}")
        with stream.map(repr, output_type=self.api.Types.STRING()).execute_and_collect() as rows:
            return sorted(rows)

    def supported(self, kind: Any, how: str) -> list[str]:
        options = {"fields.a.kind": how, **({"fields.a.start": "1", "fields.a.end": "3"} if how == "sequence" else {})}
        try:
            self.stream_of({"a": kind}, {**options, "?": ""})
        except Exception as e:  # noqa: BLE001 - the answer is in the message
            return messages(e)[-1].split("Supported options:")[1].split()
        raise RuntimeError("an unknown option was taken")

    def from_stream(self, kind: Any) -> dict[str, Any]:
        table = self.tables.from_data_stream(self.env.from_collection([], type_info=kind))
        printed = tried(lambda: table._j_table.getResolvedSchema().toString())
        return {"schema": printed, "type_info": tried(lambda: str(self.tables.to_data_stream(table).get_type()))}

    def path(self, text: str) -> Any:
        found = messages(_error_of(lambda: self.tables.from_path(text)))[0]
        match = re.search(r"Table (.*) was not found", found)
        return match[1] if match else {"fails": [found.split("\n")[0]]}


def _error_of(make: Callable[[], Any]) -> BaseException:
    try:
        make()
    except Exception as e:  # noqa: BLE001 - it is what is asked for
        return e
    raise RuntimeError("there was no error")


def record_all() -> dict[str, Any]:
    import table_cases as cases

    recorder = Recorder()
    d, api = recorder.api.DataTypes, recorder.api

    def text(make: Callable[[], Any]) -> Any:
        return tried(lambda: str(make()))

    return {
        "data_types": {name: recorder.data_type(kind) for name, kind in cases.data_types(d).items()},
        "type_strings": {t: tried(lambda t=t: recorder.parsed(t)) for t in (*cases.TYPE_STRINGS, *cases.BAD_TYPE_STRINGS)},
        "schemas": {name: text(make) for name, make in cases.schemas(api).items()},
        "descriptors": {name: text(make) for name, make in cases.descriptors(api).items()},
        "generated": {name: tried(lambda t=t: recorder.generated(t)) for name, t in cases.generated(d).items()},
        "supported": {name: recorder.supported(*what) for name, what in cases.supported(d).items()},
        "stream_types": {name: recorder.from_stream(kind) for name, kind in cases.stream_types(api.Types).items()},
        "paths": {text: recorder.path(text) for text in cases.PATHS},
    }


def main() -> None:
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with redirect_stdout(io.StringIO()):
        recorded = record_all()
    TARGET.write_text(json.dumps(recorded, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print({section: len(cases) for section, cases in recorded.items()})


if __name__ == "__main__":
    main()
