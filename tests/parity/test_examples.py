"""PyFlink's own examples run unmodified by ``wiesel run`` and print what they print on real Flink."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.differential.canonical import difference
from tests.differential.examples_wheel import (
    EXAMPLES,
    TABLE_EXAMPLES,
    UNBOUNDED,
    WITHOUT_JSON,
    ExamplesUnavailableError,
    example_path,
    examples_folder,
    golden_path,
    printed_lines,
    table_lines,
)
from tests.parity.conftest import time_limit

ENGINES = ("local", "spark")
# The local engine runs all examples, Spark one for each mechanism, as every run there starts a session of its own.
ON_SPARK = (
    "word_count.py",
    "state_access.py",
    "event_time_timer.py",
    "table/word_count.py",
    "table/process_json_data_with_udf.py",
    "table/mixing_use_of_datastream_and_table.py",
    "table/windowing/session_window.py",
    "table/pandas/pandas_udaf.py",
    "table/async/async_scalar_function.py",
    "table/streaming_word_count.py",
)
SECONDS = 300
COUNTS_WANTED, COUNTS_RECORDED = 25, 15
WITH_JSON = Path(__file__).parents[1] / "differential" / "example_with_json.py"
COMMAND = [sys.executable, "-c", "from wiesel.platform.cli import main; main()", "run"]

COUNT = re.compile(r"^(?:\d+> )?(?:\((\w+),(\d+)\)|[+][IU]\[(\w+), (\d+)\])$")
TAKEN_BACK = re.compile(r"^(?:\d+> )?-U\[(\w+), (\d+)\]$")


def runs(examples: Iterable[str]) -> list[tuple[str, str]]:
    """Return the engines that run examples, with each of them."""
    return [(engine, example) for engine in ENGINES for example in examples if engine == "local" or example in ON_SPARK]


@pytest.fixture(scope="module")
def examples() -> Path:
    try:
        return examples_folder()
    except ExamplesUnavailableError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.mark.parametrize(("engine", "example"), runs(EXAMPLES))
def test_prints_what_real_flink_prints(engine, example, examples, tmp_path):
    # One subtask, as in the recording: some examples keep running sums, whose values depend on the order of the records.
    command = [*COMMAND, "-p", "1", "-D", f"wiesel.engine={engine}", str(examples / example)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, cwd=tmp_path, check=False)
    assert done.returncode == 0, f"{example} on {engine} ended with {done.returncode}:\n{done.stderr[-4000:]}"
    expected = golden_path(example).read_text(encoding="utf-8").splitlines()
    problem = difference(expected, printed_lines(done.stdout))
    assert not problem, f"{example} on {engine}:\n{problem}"


@pytest.mark.parametrize(("engine", "example"), runs(TABLE_EXAMPLES))
def test_tables_come_to_what_real_flink_prints(engine, example, examples, tmp_path):
    path = str(example_path(example))
    program = [str(WITH_JSON), path] if example == WITHOUT_JSON else [path]
    command = [*COMMAND, "-p", "1", "-D", f"wiesel.engine={engine}", *program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, cwd=tmp_path, check=False)
    assert done.returncode == 0, f"{example} on {engine} ended with {done.returncode}:\n{done.stderr[-4000:]}"
    expected = golden_path(example).read_text(encoding="utf-8").splitlines()
    found = table_lines(done.stdout, example)
    if example.startswith("table/windowing/"):
        # Their sums are FLOAT: the last digits depend on how rows fell into batches, whose sums are added.
        expected, found = to_thousandths(expected), to_thousandths(found)
    problem = difference(expected, found)
    assert not problem, f"{example} on {engine}:\n{problem}"


def to_thousandths(lines: list[str]) -> list[str]:
    return [re.sub(r"\d+\.\d+", lambda number: f"{float(number[0]):.3f}", line) for line in lines]


@pytest.mark.parametrize("example", UNBOUNDED)
def test_recorded_counts_of_the_unbounded_examples_have_the_form_that_is_tested(example):
    counts, others = read_counts(sorted_by_count(golden_path(example).read_text(encoding="utf-8").splitlines()))
    assert sum(map(len, counts.values())) >= COUNTS_RECORDED
    assert others == ["Printing result to stdout. Use --output to specify output path."]


def sorted_by_count(lines: list[str]) -> list[str]:
    """Return the lines as they were printed but for the order of words: what is taken back comes before what takes its place."""

    def place(line: str) -> tuple[int, bool]:
        number = int(re.sub(r"\D", "", line) or 0)
        return (number + 1, False) if TAKEN_BACK.match(line) else (number, True)

    return sorted(lines, key=place)


@pytest.mark.parametrize(("engine", "example"), runs(UNBOUNDED))
def test_unbounded_word_counts_count_until_they_are_interrupted(example, engine, examples, tmp_path):
    command = [*COMMAND, "-p", "2", "-D", f"wiesel.engine={engine}", str(example_path(example))]
    with (tmp_path / "stderr").open("w+") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=tmp_path)
        with process:
            try:
                with time_limit(SECONDS):
                    counts, others = read_counts(process.stdout)
                process.send_signal(signal.SIGINT)
                process.wait(timeout=200)
            finally:
                process.kill()
        errors.seek(0)
        total = sum(map(len, counts.values()))
        assert total >= COUNTS_WANTED, f"only {dict(counts)} came, and {others}:\n{errors.read()[-4000:]}"
    for word, numbers in counts.items():
        assert numbers == list(range(1, len(numbers) + 1)), f"{word} was counted {numbers}"
    assert others == read_counts(sorted_by_count(golden_path(example).read_text(encoding="utf-8").splitlines()))[1]


def read_counts(lines: Iterable[str]) -> tuple[dict[str, list[int]], list[str]]:
    """Read printed lines until enough counts came; return the counts by word, in order, and the lines that are no counts."""
    counts: dict[str, list[int]] = defaultdict(list)
    others: list[str] = []
    for line in lines:
        match, gone = COUNT.match(line.rstrip("\n")), TAKEN_BACK.match(line.rstrip("\n"))
        if match:
            word, number = filter(None, match.groups())
            counts[word].append(int(number))
        elif gone:
            assert counts[gone[1]][-1:] == [int(gone[2])], f"{line} takes back what is not there: {counts[gone[1]]}"
        else:
            others.append(line.rstrip("\n"))
        if sum(map(len, counts.values())) >= COUNTS_WANTED and others:
            break
    return counts, others
