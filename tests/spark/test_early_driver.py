"""``wiesel run`` starts the driver before the program asks for it: it is used, replaced where it does not fit, and never left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil

LIMIT_S = 450

PROGRAM = """
import json, os, sys, time
import psutil
from pyspark import SparkContext
from wiesel.common import Configuration, Types
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.engine.spark import early_driver

def is_jvm(process):
    try:
        return "pyspark-shell" in process.cmdline()
    except psutil.NoSuchProcess:
        return False  # another child, which has ended since it was found

def jvms():
    # One process from Spark's script to the JVM, in which it ends.
    return [child.pid for child in psutil.Process().children() if is_jvm(child)]

before = jvms()
early_driver._early._coming.join()
made_ms = int(time.time() * 1000)
os.environ.update(json.loads(sys.argv[1]))
env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(json.loads(sys.argv[2])))
env.set_parallelism(1)
seen = env.from_collection([1, 2, 3], Types.LONG()).map(lambda n: f"{n} {os.environ.get('FOR_WORKERS')}", Types.STRING())
records = list(seen.execute_and_collect())
context = SparkContext._active_spark_context
early = context.startTime < made_ms
print(json.dumps({"before": before, "records": records, "after": jvms(), "early": early, "key": context.getConf().get("spark.a.key")}))
"""


def run(folder: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program with its temporary files in a folder of its own; nothing may be left there, and no process."""
    (folder / "program.py").write_text(program)
    temporary = folder / "tmp"
    temporary.mkdir()
    command = [sys.executable, "-c", "from wiesel.platform.cli import main; main(prog_name='wiesel')", "run", "program.py", *arguments]
    environment = {**os.environ, "TMPDIR": str(temporary), "EARLY_JVM_TEST": str(folder)}
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT_S)
    assert [path.name for path in temporary.iterdir() if path.name.startswith("wiesel-gateway-")] == []
    psutil.wait_procs(left := family(folder), timeout=90)
    assert not [process for process in left if process.is_running()], "processes were left behind"
    return ended


def family(folder: Path) -> list[psutil.Process]:
    """Return the processes that have the environment of a run."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("EARLY_JVM_TEST") == str(folder):
                found.append(process)
        except (psutil.AccessDenied, psutil.NoSuchProcess):
            continue
    return found


def told(ended: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert ended.returncode == 0, ended.stderr[-2000:]
    line: dict[str, Any] = json.loads(ended.stdout.strip().splitlines()[-1])
    return line


def test_the_driver_that_was_started_early_runs_the_job(tmp_path: Path) -> None:
    seen = told(run(tmp_path, PROGRAM, "{}", "{}"))
    assert seen["records"] == ["1 None", "2 None", "3 None"]
    assert len(seen["before"]) == 1 and seen["after"] == seen["before"]
    assert seen["early"], "its session was not used"


def test_a_session_with_settings_of_the_program_takes_its_place(tmp_path: Path) -> None:
    seen = told(run(tmp_path, PROGRAM, "{}", json.dumps({"wiesel.spark.conf.spark.a.key": "set"})))
    assert (seen["records"], seen["key"]) == (["1 None", "2 None", "3 None"], "set")
    assert not seen["early"] and len(seen["after"]) == 1, "the JVM with another session was used, or lives on"


def test_workers_see_variables_that_the_program_has_set_since(tmp_path: Path) -> None:
    seen = told(run(tmp_path, PROGRAM, json.dumps({"FOR_WORKERS": "yes"}), "{}"))
    assert seen["records"] == ["1 yes", "2 yes", "3 yes"]
    assert len(seen["after"]) == 1 and seen["after"] != seen["before"], "the JVM without the variable was used, or lives on"


def test_a_program_without_a_job_leaves_no_jvm(tmp_path: Path) -> None:
    ended = run(tmp_path, "print('built nothing')")
    assert (ended.returncode, ended.stdout) == (0, "built nothing\n"), ended.stderr


def test_a_program_that_fails_leaves_no_jvm(tmp_path: Path) -> None:
    ended = run(tmp_path, "raise ValueError('too bad')")
    assert ended.returncode == 1 and "too bad" in ended.stderr


LOGS_AT_INFO = """
import logging, sys
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(message)s")
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.engine.spark import early_driver

# Whatever the driver's start closes of its connections, it has closed by now.
early_driver._early._coming.join()
env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
print(sorted(env.from_collection([1, 2, 3]).execute_and_collect()))
"""


def test_a_program_that_logs_at_info_sees_nothing_of_connections_to_the_driver(tmp_path: Path) -> None:
    ended = run(tmp_path, LOGS_AT_INFO)
    assert ended.returncode == 0, ended.stderr[-2000:]
    printed = ended.stdout.splitlines()
    assert "[1, 2, 3]" in printed
    assert [line for line in printed if "connection" in line or "command" in line] == []
