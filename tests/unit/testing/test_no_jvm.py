"""The harnesses need neither Spark nor Java: nothing of either is imported, and no process is started."""

from __future__ import annotations

import subprocess
import sys

import pytest

IMPORT = "import wiesel.testing"
OPERATOR = """
from wiesel.common import Time
from wiesel.datastream.window import TumblingEventTimeWindows
from wiesel.testing import StreamHarness
def windows(stream):
    return stream.key_by(lambda v: v).window(TumblingEventTimeWindows.of(Time.seconds(1))).reduce(lambda a, b: a + b)
with StreamHarness(windows, parallelism=2, state_backend="lmdb") as harness:
    harness.push("a", 1)
    harness.snapshot()
    harness.end_input()
assert harness.values == ["a"]
"""
PIPELINE = """
from wiesel.common import WatermarkStrategy
from wiesel.testing import ManualSource, local_environment
env, source = local_environment(parallelism=2), ManualSource()
out = env.collect(env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").key_by(lambda v: v).map(lambda v: v + 1))
with env.start() as job:
    source.push(1)
    job.settle()
    job.checkpoint()
    job.fail()
    job.finish()
assert out.values == [2]
"""
LOOK = """
import sys
print(sorted({"pyspark", "py4j", "grpc", "pyarrow", "pandas", "numpy"} & sys.modules.keys()))
"""
FORBID = """
import subprocess, os
def refuse(*args, **kwargs):
    raise AssertionError("a process was started")
subprocess.Popen.__init__ = os.fork = refuse
"""


@pytest.mark.parametrize("program", [IMPORT, OPERATOR, PIPELINE], ids=["import", "operator", "pipeline"])
def test_nothing_heavy_is_imported_or_started(program):
    told = subprocess.run([sys.executable, "-c", FORBID + program + LOOK], capture_output=True, text=True, timeout=150)
    assert (told.returncode, told.stdout) == (0, "[]\n"), told.stderr
