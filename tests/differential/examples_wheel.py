"""The DataStream example programs inside the ``apache-flink`` wheel: where they are, and what their output may look like.

They are not copied into this repository. They come from a folder named by ``WIESEL_FLINK_EXAMPLES`` (the folder
``pyflink/examples/datastream`` of an installed PyFlink), or from the wheel, which is downloaded once (3 MB, with none of its
dependencies) into ``.cache`` beside the project's files.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = HERE.parents[1] / ".cache" / "flink-examples"
GOLDENS = HERE / "goldens_examples"
VERSION = "2.3.0"

# Bounded programs: they end, and their output can be compared whole.
EXAMPLES = (
    "word_count.py",
    "event_time_timer.py",
    "state_access.py",
    "process_json_data.py",
    "basic_operations.py",
    "windowing/session_with_dynamic_gap_window.py",
    "windowing/session_with_gap_window.py",
    "windowing/sliding_time_window.py",
    "windowing/tumbling_count_window.py",
    "windowing/tumbling_time_window.py",
)
# Never ends: only the form of its output can be compared.
UNBOUNDED = "streaming_word_count.py"

_IN_WHEEL = "pyflink/examples/datastream/"
_FOLDER_HINT = "name the folder pyflink/examples/datastream of an installed PyFlink"
_SUBTASK = re.compile(r"^\d+> ")


class ExamplesUnavailableError(Exception):
    """The example programs could neither be found nor be downloaded."""


def examples_folder() -> Path:
    """Returns the folder of the example programs, downloading the wheel if need be.

    Raises:
        ExamplesUnavailableError: the folder named by the variable is not one, or the download failed.
    """
    named = os.environ.get("WIESEL_FLINK_EXAMPLES")
    if named:
        if not (Path(named) / EXAMPLES[0]).is_file():
            raise ExamplesUnavailableError(f"WIESEL_FLINK_EXAMPLES={named} holds no {EXAMPLES[0]}; {_FOLDER_HINT}")
        return Path(named)
    if not (CACHE / UNBOUNDED).is_file():
        _download()
    return CACHE


def _download() -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    # The platform is named because the wheel is opened, not installed: it need not fit this Python.
    target = ["--only-binary=:all:", "--python-version=3.11", "--implementation=cp", "--abi=cp311", "--platform=manylinux2014_x86_64"]
    command = [sys.executable, "-m", "pip", "download", f"apache-flink=={VERSION}", "--no-deps", *target, "-q", "-d", str(CACHE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = sorted(CACHE.glob("apache_flink-*.whl"))
    if done.returncode != 0 or not wheels:
        raise ExamplesUnavailableError(
            f"The wheel of apache-flink {VERSION} could not be downloaded for its example programs:\n{done.stderr.strip()[-500:]}\n"
            f"Without it, set WIESEL_FLINK_EXAMPLES: {_FOLDER_HINT}"
        )
    with zipfile.ZipFile(wheels[-1]) as wheel:
        for member in wheel.namelist():
            if member.startswith(_IN_WHEEL) and member.endswith(".py"):
                path = CACHE / member.removeprefix(_IN_WHEEL)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(wheel.read(member))
    for wheel_file in wheels:
        wheel_file.unlink()


def printed_lines(output: str) -> list[str]:
    """Returns the lines of a program's output without the number of the printing subtask, sorted."""
    return sorted(_SUBTASK.sub("", line) for line in output.splitlines() if line.strip())


def golden_path(example: str) -> Path:
    """Returns where the recorded output of an example is kept."""
    return GOLDENS / (example.removesuffix(".py").replace("/", "_") + ".txt")
