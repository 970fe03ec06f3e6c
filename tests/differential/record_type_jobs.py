"""Records what values of declared types become in jobs of real PyFlink, to ``goldens_type_jobs.json``: see ``type_jobs.py``.

Run it with the interpreter of a virtual environment that holds real PyFlink 2.3 and a JDK 17 on the path, after ``record_type_values.py``:

    python tests/differential/record_type_jobs.py               # types that are not recorded yet
    python tests/differential/record_type_jobs.py "STRING()"    # these types anew

Many values of many types share a job. Where one makes the job fail, halves of them go into jobs of their own, down to the ones that fail; a
cell that fails has the name of its exception after an exclamation mark. Where the first, the middle and the last of some values fail,
the others are not run and have a question mark. What PyFlink's coders refuse (``goldens_type_values.json``) is not run, but in
``from_collection()``, where Java encodes first; nor are keys of broadcast state that Python cannot hash.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import type_jobs
import type_values

HERE = Path(__file__).resolve().parent
TARGET = HERE / "goldens_type_jobs.json"
SECONDS_PER_GROUP = 600
CORRUPT = {"(1, 'a', 2)", "Row(1)", "Row(1, 'a', 2)"}
"""PyFlink's coder of rows reads beyond the end of these, or drops what is too much."""

Cells = dict[tuple[str, str], list[str]]
"""The expressions of values by the type and the site."""


def environment() -> Any:
    from pyflink.common import Configuration
    from pyflink.datastream import StreamExecutionEnvironment

    config = Configuration()
    config.set_string("python.executable", sys.executable)
    config.set_string("restart-strategy.type", "none")
    config.set_string("python.state.cache.size", "1")
    config.set_string("taskmanager.memory.network.fraction", "0.2")
    env = StreamExecutionEnvironment.get_execution_environment(config)
    env.set_parallelism(1)
    return env


def run(names: dict[str, Any], cells: Cells) -> dict[tuple[str, str], list[str]]:
    """Run one job for values of types at sites; return a text for each."""
    from pyflink.datastream.data_stream import CloseableIterator

    env = environment()
    iterators, printed = {}, []
    start = os.fstat(1).st_size
    for (declared, site), expressions in cells.items():
        stream = type_jobs.build(site, env, names, declared, expressions)
        if site == "printed":
            printed.append((declared, site))
            stream.print(f"{len(printed) - 1}:")
        else:
            iterators[declared, site] = CloseableIterator(stream._j_data_stream.collectAsync(), stream.get_type())
    client = env.execute_async("types")
    found: dict[tuple[str, str], list[str]] = {cell: [] for cell in printed}
    for (declared, site), records in iterators.items():
        values = list(records)
        in_python = site in type_jobs.IN_PYTHON
        found[declared, site] = [text for _, text in sorted(values)] if in_python else list(map(type_values.shown, values))
    client.get_job_execution_result().result()
    with open("/dev/fd/1", encoding="utf-8") as output:  # standard output is a file, also the JVM's
        output.seek(start)
        for line in output.read().splitlines():
            number, _, text = line.partition(":> ")
            found[printed[int(number)]].append(text)
    for cell, texts in found.items():
        if len(texts) != len(cells[cell]):
            raise ValueError(f"{cell}: {len(texts)} results of {len(cells[cell])} values")
    return found


def results(names: dict[str, Any], cells: Cells) -> dict[tuple[str, str, str], str]:
    """Return the text of each value of a type at a site, from as few jobs as there must be."""
    cells = {cell: expressions for cell, expressions in cells.items() if expressions}
    if not cells:
        return {}
    try:
        return {(*cell, value): text for cell, texts in run(names, cells).items() for value, text in zip(cells[cell], texts, strict=True)}
    except Exception as error:  # noqa: BLE001 - what a value does to a job is its result
        print(_exception(error), list(cells)[:4], len(cells), file=sys.stderr, flush=True)
        if len(cells) > 1:
            parts = list(cells.items())
            one, other = dict(parts[: len(parts) // 2]), dict(parts[len(parts) // 2 :])
        else:
            ((declared, site), expressions), *_ = cells.items()
            if len(expressions) == 1:
                return {(declared, site, expressions[0]): f"!{_exception(error)}"}
            samples = sorted({0, len(expressions) // 2, len(expressions) - 1})
            told = {}
            for sample in samples:
                told |= results(names, {(declared, site): [expressions[sample]]})
            if all(text.startswith("!") for text in told.values()):
                return {(declared, site, value): "?" for value in expressions} | told
            middle = len(expressions) // 2
            one, other = {(declared, site): expressions[:middle]}, {(declared, site): expressions[middle:]}
        return results(names, one) | results(names, other)


def _exception(error: Exception) -> str:
    """Return the class of the innermost cause in the text of an error."""
    causes = re.findall(r"^(?:Caused by: |: )?([\w.$]+(?:Error|Exception))\b", str(error), re.MULTILINE)
    return (causes[-1] if causes else type(error).__name__).split(".")[-1]


def recorded_group(declared_types: list[str], coded: dict[str, dict[str, str]]) -> dict[str, dict[str, dict[str, str]]]:
    """Return the texts of values of some types by type, value and site."""
    from pyflink.common import Row, Types

    names = type_values.namespace(Types, Row)
    found: dict[tuple[str, str, str], str] = {}
    together: Cells = {}
    alone: list[Cells] = []
    env = environment()
    for declared in declared_types:
        for site in type_jobs.sites_of(declared):
            cells = together.setdefault((declared, site), [])
            for value, text in coded[declared].items():
                if site == "collection":
                    try:
                        type_jobs.build(site, env, names, declared, [value])
                        cells.append(value)
                    except Exception as error:  # noqa: BLE001 - what a value does is its result
                        found[declared, site, value] = f"!{_exception(error)}"
                elif text.startswith("!"):
                    found[declared, site, value] = text
                elif value in CORRUPT:
                    found[declared, site, value] = "!corrupt"
                elif site == "broadcast key" and not _is_hashable(eval(value, names)):
                    found[declared, site, value] = "!TypeError"
                elif _ends_jobs(declared, site, value, text):
                    # Where such values are passed on Java cannot hold them.
                    found[declared, site, value] = "?"
                    if site == "collected":
                        alone.append({(declared, site): [value]})
                else:
                    cells.append(value)
    found |= results(names, together)
    for cell in alone:
        found |= results(names, cell)
    return {
        declared: {value: {site: found[declared, site, value] for site in type_jobs.sites_of(declared)} for value in coded[declared]}
        for declared in declared_types
    }


def _ends_jobs(declared: str, site: str, value: str, text: str) -> bool:
    is_no_number = any(word in text for word in ("nan", "inf", "NaN", "Inf"))
    if declared == type_jobs.UNDECLARED:
        return value == "None"
    if "SQL_TIMESTAMP" in declared:
        return "datetime.datetime(9999" in value or "before" in value
    return is_no_number and ("BIG_DEC" in declared or site == "collected")


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def table() -> dict[str, dict[str, Any]]:
    """Return what is recorded."""
    return json.loads(TARGET.read_text(encoding="utf-8")) if TARGET.exists() else {}


def write(found: dict[str, dict[str, Any]], types: list[str]) -> None:
    """Write what is recorded, a line for each cell; what is the same at all sites once."""
    parts = []
    for declared in types:
        if declared in found:
            cells = found[declared].items()
            short = {
                value: next(iter(told.values())) if isinstance(told, dict) and len(set(told.values())) == 1 else told
                for value, told in cells
            }
            lines = ",\n".join(f"{json.dumps(value)}: {json.dumps(told, ensure_ascii=False)}" for value, told in short.items())
            parts.append(f"{json.dumps(declared)}: {{\n{lines}\n}}")
    TARGET.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def groups(types: list[str]) -> list[list[str]]:
    """The types whose values share jobs: containers of one basic type, and all others."""
    found: dict[str, list[str]] = {}
    for declared in types:
        basic = (
            next((name for name in type_values.BASIC if f"Types.{name}()" in declared), "")
            if declared not in type_values.SHAPES
            else "shapes"
        )
        found.setdefault(basic or declared, []).append(declared)
    return list(found.values())


def main() -> None:
    """Record what is missing, or the types named; each group of types in a process of its own."""
    coded = json.loads((HERE / "goldens_type_values.json").read_text(encoding="utf-8"))
    coded[type_jobs.UNDECLARED] = dict.fromkeys(type_values.VALUES, "")
    if sys.argv[1:2] == ["--here"]:
        found = recorded_group(sys.argv[2:], coded)
        write(table() | found, list(coded))
        print(", ".join(sys.argv[2:]), file=sys.stderr, flush=True)
        os._exit(0)  # threads of PyFlink's workers would go on
    for chosen in groups(sys.argv[1:] or [declared for declared in coded if declared not in table()]):
        with tempfile.TemporaryFile() as printed:
            child = subprocess.Popen([sys.executable, __file__, "--here", *chosen], stdout=printed, start_new_session=True)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(timeout=SECONDS_PER_GROUP)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)  # also the gateway's JVM


if __name__ == "__main__":
    main()
