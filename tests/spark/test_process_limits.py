"""A job that needs more open files than its processes may have ends at once, with the numbers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

PROGRAM = """
from wiesel.common import Types
from wiesel.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(40)
env.from_collection([1, 2, 3], Types.LONG()).key_by(lambda n: n).map(lambda n: n, Types.LONG()).key_by(lambda n: n).map(lambda n: n).print()
env.execute()
"""


def test_a_job_with_too_many_connections_for_the_limit_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    command = f'ulimit -n 1024; exec {sys.executable} -c "$RUN" run program.py'
    environment = {**os.environ, "RUN": "from wiesel.platform.cli import main; main(prog_name='wiesel')"}
    began_s = time.monotonic()
    ended = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 1, ended.stderr
    told = re.search(
        r"the 81 tasks of the job, with 1,640 connections between them, need about ([\d,]+) open files in Spark's JVM; "
        r"the limit is 1,024 \(RLIMIT_NOFILE\)\n.*raise the limit \(ulimit -n (\d+)\), lower the parallelism",
        ended.stderr,
    )
    assert told is not None, ended.stderr
    needed, recommended = (int(number.replace(",", "")) for number in told.groups())
    assert 2 * 1_640 < needed <= recommended
    assert "Traceback" not in ended.stderr
    # No session was waited for; on a busy machine the start of Python alone takes its time.
    assert time.monotonic() - began_s < 120
