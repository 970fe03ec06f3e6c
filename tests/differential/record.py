"""Records what real Flink gives for the differential programs.

Run it with the interpreter of a virtual environment that holds real PyFlink (``pip install apache-flink==2.3.0``) and a JDK 17 on the path:

    python tests/differential/record.py            # all programs
    python tests/differential/record.py window_    # programs whose name starts with window_
    python tests/differential/record.py --check    # record again, write nothing, fail on any difference

Each program and variant is one job on a fresh MiniCluster, with Python functions in process mode and one record per bundle, so that a
watermark follows the record it belongs to. The sorted multiset of result records goes to ``goldens/<program>.json``. A few programs
share one process and its JVM; more do not, because PyFlink's local workers leave threads behind, and after a job that fails some of
them spin.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import zipfile
from pathlib import Path
from typing import Any

from canonical import difference, encoded, multiset
from programs_loader import GOLDENS, Program, Variant, load, program_names

PROGRAMS_PER_PROCESS = 4
SECONDS_PER_PROGRAM = 240


@functools.cache
def watermarks_jar() -> str:
    """Compiles the Java watermark generator that `punctuated` needs against the installed Flink; returns the jar's URL."""
    import pyflink

    classpath = str(Path(pyflink.__file__).parent / "lib" / "*")
    source = Path(__file__).resolve().parent / "java" / "PerRecordWatermarks.java"
    target = Path(tempfile.mkdtemp(prefix="differential-"))
    subprocess.run(["javac", "-cp", classpath, "-d", str(target), str(source)], check=True)
    with zipfile.ZipFile(target / "watermarks.jar", "w") as jar:
        for compiled in target.glob("*.class"):
            jar.write(compiled, compiled.name)
    return (target / "watermarks.jar").as_uri()


def run(program: Program, variant: Variant) -> list[Any]:
    """Runs one variant on real Flink and returns the canonical multiset of its records."""
    from pyflink.common import Configuration
    from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment

    config = Configuration()
    config.set_string("python.fn-execution.bundle.size", "1")
    config.set_string("python.executable", sys.executable)
    config.set_string("restart-strategy.type", "none")
    config.set_string("taskmanager.numberOfTaskSlots", "16")  # slot sharing groups need more than the parallelism
    env = StreamExecutionEnvironment.get_execution_environment(config)
    env.add_jars(watermarks_jar())
    env.set_runtime_mode(RuntimeExecutionMode[variant.mode])
    env.set_parallelism(variant.parallelism)
    return multiset(collect(program.build(env), env))


def collect(stream: Any, env: Any) -> list[Any]:
    """Runs the job as execute() would and returns the records of ``stream``.

    PyFlink's execute_and_collect is not used: it runs each Python operator twice (once chained, once not), which clashes with
    user-given uids, and it forgets to tell custom partitioners the number of partitions.
    """
    from pyflink.datastream.data_stream import CloseableIterator

    java_iterator = stream._j_data_stream.collectAsync()
    client = env.execute_async("differential")
    records = CloseableIterator(java_iterator, stream.get_type())
    try:
        result = list(records)
        client.get_job_execution_result().result()
        return result
    finally:
        records.close()


def golden(name: str) -> dict[str, Any]:
    """Runs all variants of a program; variants with the same result share one entry."""
    from pyflink.version import __version__

    program = load(name)
    results: dict[str, Any] = {}
    for variant in program.variants:
        # Loaded again for each variant: output tags and types keep Java objects once used, and cannot be pickled any more.
        results[variant.key] = run(load(name), variant)
    return {"program": program.name, "about": program.about, "flink": __version__, "results": _shared(results)}


def _shared(results: dict[str, Any]) -> dict[str, Any]:
    # Most programs give one answer for every parallelism: say so by naming the variant instead of repeating the records.
    shared: dict[str, Any] = {}
    for key, records in results.items():
        twin = next((other for other, value in shared.items() if isinstance(value, list) and value == records), None)
        shared[key] = twin if twin is not None else records
    return shared


def write(name: str, content: dict[str, Any]) -> None:
    """Writes a golden with one record per line, so that differences are easy to read."""
    parts = []
    for key, records in content["results"].items():
        body = json.dumps(records) if isinstance(records, str) else "[" + ",".join(f"\n   {encoded(r)}" for r in records) + "\n  ]"
        parts.append(f"  {json.dumps(key)}: {body}")
    head = "".join(f" {json.dumps(key)}: {json.dumps(content[key])},\n" for key in ("program", "about", "flink"))
    GOLDENS.mkdir(exist_ok=True)
    text = "{\n" + head + ' "results": {\n' + ",\n".join(parts) + "\n }\n}\n"
    json.loads(text)
    (GOLDENS / f"{name}.json").write_text(text, encoding="utf-8")


def check(name: str, content: dict[str, Any]) -> str:
    """Compares a new recording with the stored one; returns the differences as text."""
    stored = json.loads((GOLDENS / f"{name}.json").read_text(encoding="utf-8"))["results"]
    lines = []
    for key, records in content["results"].items():
        old = stored.get(key, [])
        text = difference(_resolved(stored, old), _resolved(content["results"], records))
        if text:
            lines.append(f"{name} {key}: {text}")
    return "\n".join(lines)


def _resolved(results: dict[str, Any], value: Any) -> list[Any]:
    return list(results[value]) if isinstance(value, str) else list(value)


def record_here(names: list[str], only_check: bool) -> int:
    """Records (or checks) programs in this process and returns 1 at the first failure, since the process is not fit for more after one."""
    for name in names:
        begin = time.monotonic()
        try:
            content = golden(name)
            problem = check(name, content) if only_check else ""
            if not only_check:
                write(name, content)
        except Exception:  # noqa: BLE001 - whatever real Flink throws is the program's result, to be shown with its name
            problem = traceback.format_exc()
        print(f"{'FAIL' if problem else 'ok  '} {name} {time.monotonic() - begin:.1f} s", flush=True)
        if problem:
            print(_without_java_frames(problem), file=sys.stderr, flush=True)
            return 1
    return 0


def _without_java_frames(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("\tat "))


def record_in_children(names: list[str], only_check: bool) -> int:
    """Records (or checks) programs in child processes, a few in each; returns 1 if any failed or took too long, otherwise 0."""
    failures = 0
    while names:
        chunk, names = names[:PROGRAMS_PER_PROCESS], names[PROGRAMS_PER_PROCESS:]
        command = [sys.executable, __file__, "--here", *(["--check"] if only_check else []), *chunk]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
        timer = threading.Timer(SECONDS_PER_PROGRAM * len(chunk), _kill_group, [child.pid])
        timer.start()
        done = 0
        for line in child.stdout or ():
            print(line, end="", flush=True)
            done += line.startswith(("ok  ", "FAIL"))
        if child.wait() != 0:
            failures += 1
            if done < len(chunk) and child.returncode < 0:
                print(f"FAIL {chunk[done]} did not end within its time", flush=True)
                done += 1
            names = chunk[done:] + names
        timer.cancel()
        _kill_group(child.pid)
    return min(failures, 1)


def _kill_group(pid: int) -> None:
    # The gateway's JVM is in the child's group and outlives a killed child.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def main() -> int:
    """Parses the command line and records or checks the programs asked for; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefixes", nargs="*", help="record only programs whose name starts with one of these")
    parser.add_argument("--check", action="store_true", help="compare with the stored goldens instead of writing them")
    parser.add_argument("--missing", action="store_true", help="only programs that have no golden yet")
    parser.add_argument("--here", action="store_true", help="run the programs named exactly, in this very process")
    args = parser.parse_args()
    if args.here:
        return record_here(args.prefixes, args.check)
    names = [name for name in program_names() if not args.prefixes or name.startswith(tuple(args.prefixes))]
    if args.missing:
        names = [name for name in names if not (GOLDENS / f"{name}.json").exists()]
    return record_in_children(names, args.check)


if __name__ == "__main__":
    sys.exit(main())
