"""The example programs inside the ``apache-flink`` wheel: where they are, and what their output may look like.

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
# Bounded programs of the Table API; those of RANDOM make random rows, of which only the form can be compared.
TABLE_EXAMPLES = (
    "table/word_count.py",
    "table/process_json_data.py",
    "table/process_json_data_with_udf.py",
    "table/multi_sink.py",
    "table/basic_operations.py",
    "table/mixing_use_of_datastream_and_table.py",
    "table/windowing/over_window.py",
    "table/windowing/session_window.py",
    "table/windowing/sliding_window.py",
    "table/windowing/tumble_window.py",
    "table/pandas/pandas_udaf.py",
    "table/pandas/conversion_from_dataframe.py",
    "table/async/async_scalar_function.py",
)
RANDOM = (
    "table/mixing_use_of_datastream_and_table.py",
    "table/pandas/conversion_from_dataframe.py",
    "table/async/async_scalar_function.py",
)
# Its `from pyflink.table.expressions import *` takes the module `json` away from its functions, in real PyFlink, too.
WITHOUT_JSON = "table/basic_operations.py"
# These never end: only the form of their output can be compared.
UNBOUNDED = ("streaming_word_count.py", "table/streaming_word_count.py")

_IN_WHEEL = "pyflink/examples/"
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
    if not (CACHE / TABLE_EXAMPLES[0]).is_file():
        _download()
    return CACHE / "datastream"


def example_path(example: str) -> Path:
    """Returns where an example program is; those of the Table API are beside those of the DataStream API."""
    folder = examples_folder()
    return folder.parent / example if example.startswith("table/") else folder / example


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
            if member.startswith((f"{_IN_WHEEL}datastream/", f"{_IN_WHEEL}table/")) and member.endswith(".py"):
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


# Output of programs of the Table API

_CHANGE = re.compile(r"^(?:\d+> )?([+-][IUD])\[(.*)\]$")
_BORDER = re.compile(r"^\+(-+\+)+$")


def table_lines(output: str, example: str) -> list[str]:
    """Returns what a program of the Table API printed as lines that do not depend on luck, sorted.

    Plans are left out, which are each engine's own; of changes, in tables and of sinks, the rows are left that they come to.
    """
    rows: list[str] = []
    others: list[str] = []
    lines = [line.rstrip() for line in output.splitlines() if line.strip()]
    in_plan, title = False, ""
    for place, line in enumerate(lines):
        if line.startswith("== Abstract Syntax Tree =="):
            in_plan = True
        if _BORDER.match(line):
            in_plan = False
            if place + 1 < len(lines) and lines[place + 1].startswith("| op |"):
                title = lines[place + 1]
        elif line.startswith("| ") and title and line != title:
            _change(rows, line[2:4], f"{title}{line[4:]}")
        elif _CHANGE.match(line):
            _change(rows, *_CHANGE.match(line).groups())  # type: ignore[union-attr]
        elif not in_plan and not line.endswith(("rows in set", "row in set")) and line != title:
            others.append(line)
    found = sorted([*rows, *others])
    return sorted(set(map(_masked, found))) if example in RANDOM else found


def _change(rows: list[str], kind: str, row: str) -> None:
    if kind in ("-U", "-D"):
        rows.remove(row)  # it fails if the row has not come
    else:
        rows.append(row)


def _masked(line: str) -> str:
    """Returns the form of a line with random values."""
    return re.sub(r"-?\b[0-9a-f]\b|-?\d+(\.\d+)?(e[+-]\d+)?", "N", re.sub(r"\s+|(?<=for_)\w", " ", line)).strip()
