"""Temporary directories are gone after the end of a program that has not waited for its job, however it ends by itself or by Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

BEGINNING = """
    import glob, os, signal, time
    from wiesel.common import Configuration, WatermarkStrategy
    from wiesel.datastream import StreamExecutionEnvironment
    from wiesel.datastream.connectors.datagen import DataGeneratorSource

    # Shells start what runs in the background with SIGINT ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    options = Configuration.from_dict({"wiesel.engine": "local", "state.backend.type": "lmdb"})
    env = StreamExecutionEnvironment.get_execution_environment(options)
    numbers = env.from_source(DataGeneratorSource(lambda n: n, 1 << 40), WatermarkStrategy.no_watermarks(), "numbers")
    numbers.key_by(lambda n: n % 5).reduce(lambda a, b: a + b).filter(lambda n: False).print()
    client = env.execute_async("endless")
    while not glob.glob(os.path.join(os.environ["TMPDIR"], "wiesel-local-*", "*")):
        time.sleep(0.01)
    print("RUNNING", flush=True)
"""
LIMIT_S = 120


@pytest.mark.parametrize(
    ("end", "code"),
    [
        ("pass", 0),
        ("raise RuntimeError", 1),
        ("time.sleep(600)", -signal.SIGINT),
        # A copy of the process leaves what is not its own.
        ("child = os.fork()\nif child: os.waitpid(child, 0); assert os.listdir(os.environ['TMPDIR'])", 0),
    ],
)
def test_directories_are_gone_although_the_job_still_ran(end: str, code: int, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", f"{textwrap.dedent(BEGINNING)}\n{end}\n"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    limit = threading.Timer(LIMIT_S, process.kill)
    limit.start()
    try:
        assert process.stdout is not None
        began = process.stdout.readline()
        if code == -signal.SIGINT:
            process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    finally:
        limit.cancel()
        process.kill()
        process.communicate()
    assert (began, process.returncode) == ("RUNNING\n", code), errors
    assert not list(tmp_path.iterdir())
