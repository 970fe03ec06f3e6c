"""Records how real Flink prints and hands back values of declared types: ``goldens/type_strings.json``.

Run it with the interpreter of a virtual environment that holds real PyFlink 2.3 and a JDK 17 on the path; it takes some minutes.
``goldens`` then has for each case the lines that came out, or ``null`` where the job failed.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TARGET = HERE / "goldens" / "type_strings.json"


def run_case(env: Any, case: Any) -> None:
    """Run one case; its lines go to standard output, from the JVM."""
    from pyflink.common import Encoder, Types
    from pyflink.datastream.connectors.file_system import FileSink

    source = env.from_collection(case.values)
    if case.how == "undeclared":
        source.print()
        env.execute()
        return
    declared = source.map(lambda value: value, output_type=case.type)
    if case.how in ("print", "in_tuple"):
        declared.print()
    elif case.how == "repr":
        declared.map(repr, output_type=Types.STRING()).print()
    else:
        folder = tempfile.mkdtemp()
        declared.sink_to(FileSink.for_row_format(folder, Encoder.simple_string_encoder()).build())
        env.execute()
        for path in Path(folder).rglob("*"):
            if path.is_file():
                print(path.read_text(), end="", flush=True)
        return
    env.execute()


def run_all() -> None:
    """Run every case, between marks on standard output."""
    import pyflink.common
    from pyflink.common import Configuration
    from pyflink.datastream import StreamExecutionEnvironment
    from type_string_cases import cases

    env = StreamExecutionEnvironment.get_execution_environment(Configuration().set_string("python.operator-chaining.enabled", "false"))
    env.set_parallelism(1)
    for case in cases(pyflink.common):
        print(f"## {case.name}", flush=True)
        try:
            run_case(env, case)
        except Exception as e:  # noqa: BLE001 - what fails in Flink is part of the record
            print(f"!! {type(e).__name__}", flush=True)


def main() -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    out = subprocess.run(
        [sys.executable, __file__, "--run"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, env={**os.environ, "PATH": path}
    ).stdout.decode()
    recorded: dict[str, list[str] | None] = {}
    for section in re.split(r"^## ", out, flags=re.MULTILINE)[1:]:
        name, *lines = section.rstrip("\n").split("\n")
        recorded[name] = None if lines[-1:] and lines[-1].startswith("!!") else lines
    TARGET.write_text(json.dumps(recorded, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
    print(f"{len(recorded)} cases, {sum(lines is None for lines in recorded.values())} of them failed in Flink")


if __name__ == "__main__":
    run_all() if "--run" in sys.argv else main()
