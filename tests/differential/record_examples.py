"""Records what the examples of the ``apache-flink`` wheel print on real Flink.

Run it like ``record.py``, with the interpreter that has real PyFlink:

    python tests/differential/record_examples.py

The JVM is told that it has one processor, so that programs which set no parallelism run with one: some of them keep running sums,
which depend on the order of records, and with more subtasks that order is a matter of luck. The sorted lines go to
``goldens_examples/``.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from examples_wheel import (
    EXAMPLES,
    GOLDENS,
    TABLE_EXAMPLES,
    UNBOUNDED,
    WITHOUT_JSON,
    example_path,
    golden_path,
    printed_lines,
    table_lines,
)

WITH_JSON = Path(__file__).with_name("example_with_json.py")
SECONDS_PER_EXAMPLE = 300
SECONDS_OF_UNBOUNDED = 150

# What Beam and PyFlink log through the handler some examples set up for stdout: it is not the program's output.
LOGGED = ("Using Any for unsupported type", "No module named google", "PYFLINK_CYTHON_ENABLED")


def run(example: str, seconds: float, endless: bool) -> str:
    """Runs an example on real Flink and returns what it printed; an endless one is killed after ``seconds``."""
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])  # Flink starts its workers as plain `python`
    env = {**os.environ, "PATH": path, "JAVA_TOOL_OPTIONS": "-XX:ActiveProcessorCount=1"}
    process = subprocess.Popen(
        [sys.executable, *([str(WITH_JSON)] if example == WITHOUT_JSON else []), str(example_path(example))],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        if not endless:
            raise
    if process.returncode != 0 and not endless:
        raise RuntimeError(f"{example} ended with {process.returncode}:\n{output}")
    return output


def main() -> int:
    """Records the examples named on the command line, or all, and returns the exit code."""
    GOLDENS.mkdir(exist_ok=True)
    for example in sys.argv[1:] or (*EXAMPLES, *TABLE_EXAMPLES, *UNBOUNDED):
        endless = example in UNBOUNDED
        begin = time.monotonic()
        output = run(example, SECONDS_OF_UNBOUNDED if endless else SECONDS_PER_EXAMPLE, endless)
        told = table_lines(output, example) if example in TABLE_EXAMPLES else printed_lines(output)
        lines = [line for line in told if not line.startswith(LOGGED)]
        golden_path(example).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        print(f"{example}: {len(lines)} lines, {time.monotonic() - begin:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
