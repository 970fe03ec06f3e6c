"""Ctrl-C in a program whose job runs on Spark: the job is cancelled, which is no failure, and nothing else is said of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

LIMIT_S = 450
PROGRAM = """
import signal

from wiesel.common import Types, WatermarkStrategy
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.datastream.connectors.number_seq import NumberSequenceSource

before = signal.getsignal(signal.SIGINT)
env = StreamExecutionEnvironment.get_execution_environment()
numbers = env.from_source(NumberSequenceSource(0, 10), WatermarkStrategy.no_watermarks(), "numbers")
numbers.print()
env.execute("first")
assert signal.getsignal(signal.SIGINT) is before, "Ctrl-C is PySpark's now"
numbers = env.from_source(NumberSequenceSource(0, 10**12), WatermarkStrategy.no_watermarks(), "numbers")
numbers.key_by(lambda n: n % 3, Types.LONG()).filter(lambda n: n % 100_000 == 0).map(lambda n: f"seen {n}").print()
env.execute("endless")
"""
BEGIN = "import sys; sys.argv[0] = 'wiesel'; from wiesel.platform.cli import main; main()"


@pytest.mark.timeout(LIMIT_S)
def test_a_job_is_cancelled_without_a_failure(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(PROGRAM)
    restarts = ["-D", "restart-strategy.type=fixed-delay", "-D", "restart-strategy.fixed-delay.delay=0 s"]
    command = [sys.executable, "-c", BEGIN, "run", "-p", "1", "-D", "wiesel.spark.master=local[4]", *restarts, "job.py"]
    environ = {**os.environ, "WIESEL_REGISTRY_DIR": str(tmp_path / "registry")}
    # In a group of its own, all of which a terminal sends the signal to.
    child = subprocess.Popen(
        command, cwd=tmp_path, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    said: list[str] = []
    with child:
        assert child.stdout is not None and child.stderr is not None
        reader = threading.Thread(target=said.extend, args=(child.stderr,))
        reader.start()
        try:
            assert any("seen" in line for line in child.stdout), "the job did not run"
            os.killpg(child.pid, signal.SIGINT)
            child.stdout.read()
            code = child.wait()
        finally:
            child.kill()
            reader.join()
    assert code == 130, said
    first, endless, *others = said  # nothing of the JVM's own, such as warnings of modules
    assert all(line.startswith("Job has been submitted with JobID ") for line in (first, endless)) and others == ["interrupted\n"]
