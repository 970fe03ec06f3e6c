"""``wiesel savepoint check``, ``list`` and ``dispose`` as a user meets them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.unit.engine.stored_job import environment, start, totals
from wiesel.common import Types, WatermarkStrategy
from wiesel.core.errors import CorruptCheckpointError, JobExecutionError
from wiesel.datastream import KeyedProcessFunction
from wiesel.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from wiesel.platform.cli import main
from wiesel.state_processor.compatibility import SavepointCheck, check_savepoint
from wiesel.testing import ManualSource

PROGRAM = """
from wiesel.common import Types, WatermarkStrategy
from wiesel.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from wiesel.datastream.connectors.number_seq import NumberSequenceSource
from wiesel.datastream.state import ListStateDescriptor, ValueStateDescriptor


class Sums(KeyedProcessFunction):
    def open(self, runtime_context):
        runtime_context.get_state(ValueStateDescriptor("sum", Types.LONG()))

    def process_element(self, value, ctx):
        yield value


env = StreamExecutionEnvironment.get_execution_environment()
numbers = env.from_source(NumberSequenceSource(0, 9), WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
numbers.key_by(str, Types.STRING()).process(Sums()).uid("sums").name("Sums").print()
env.execute()
print("never reached")
"""


class Sums(KeyedProcessFunction):
    def open(self, runtime_context):
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.INT()))
        self.all = runtime_context.get_list_state(ListStateDescriptor("all", Types.INT()))

    def process_element(self, value, ctx):
        self.sum.update(value)
        self.all.add(value)


def take(directory: Path, label: str, **options: Any) -> str:
    """Return the path of a savepoint of a job with two states in ``sums`` and one in an operator without a uid."""
    env = environment(None)
    stream = env.from_source(numbers := ManualSource(), WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
    keyed = stream.key_by(lambda n: "a", Types.STRING())
    keyed.process(Sums()).uid("sums").print()
    keyed.reduce(lambda a, b: a + b).name("nameless").print()
    with start(env) as job:
        numbers.push(1)
        job.settle()
        return job.savepoint(directory, label=label, **options)


@pytest.fixture(scope="module")
def savepoint(tmp_path_factory: pytest.TempPathFactory) -> str:
    return take(tmp_path_factory.mktemp("savepoints"), "first")


def wiesel(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["savepoint", *arguments])


SUM = ValueStateDescriptor("sum", Types.INT())
ALL = ListStateDescriptor("all", Types.INT())


@dataclass
class Point:
    x: int


class Asking(KeyedProcessFunction):
    """Asks for these states when it opens."""

    def __init__(self, *descriptors: Any, error: str = "") -> None:
        self.descriptors, self.error = descriptors, error

    def open(self, runtime_context):
        if self.error:
            raise OSError(self.error)
        for descriptor in self.descriptors:
            kind = {ListStateDescriptor: "get_list_state", MapStateDescriptor: "get_map_state"}.get(type(descriptor), "get_state")
            getattr(runtime_context, kind)(descriptor)

    def process_element(self, value, ctx):
        yield value


def checked(path: str, function: Asking, uid: str | None = "sums", max_parallelism: int = 128) -> SavepointCheck:
    env = environment(None)
    stream = env.from_source(ManualSource(), WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
    sums = stream.key_by(lambda n: "a", Types.STRING()).process(function).name("Sums").set_max_parallelism(max_parallelism)
    if uid is not None:
        sums.uid(uid)
    sums.print()
    return check_savepoint(env._generate_stream_graph(), path)


def verdicts(found: SavepointCheck) -> dict[str, tuple[str, str]]:
    """Return the verdict and the reason of each state of ``Sums``."""
    return {v.state: (v.verdict, v.reason) for v in found.verdicts if v.operator.startswith("Sums ")}


def test_c28_kept_and_dropped_states_are_told(savepoint: str) -> None:
    found = checked(savepoint, Asking(SUM, ALL))
    assert verdicts(found) == {"sum": ("kept", ""), "all": ("kept", "")}
    rest = [(v.operator, v.verdict, v.reason) for v in found.verdicts if not v.operator.startswith("Sums ")]
    assert rest[0] == ("Source: numbers (uid 'numbers')", "kept", "")
    (dropped,) = rest[1:]
    assert dropped[0].startswith("nameless (id ") and dropped[1] == "dropped" and "has no uid" in dropped[2]
    assert found.fits and found.drops and not found.warnings


@pytest.mark.parametrize(
    ("function", "state", "verdict", "why"),
    [
        (Asking(ValueStateDescriptor("sum", Types.LONG())), "sum", "converted", "type has changed"),
        (Asking(ValueStateDescriptor("sum", Types.STRING())), "sum", "incompatible", "Integer.*String"),
        (Asking(MapStateDescriptor("all", Types.INT(), Types.INT())), "all", "incompatible", "list.*map"),
        (Asking(ValueStateDescriptor("total", Types.INT()).add_alias("sum")), "sum", "kept", "called 'total' in the program"),
        (Asking(ValueStateDescriptor("total", Types.LONG()).add_alias("sum")), "sum", "converted", "type has changed.*'total'"),
        (Asking(ValueStateDescriptor("sum", Point)), "sum", "incompatible", r"Integer.*Point\(x: Long\)"),
        (Asking(SUM), "all", "unused", "does not ask for it"),
        (Asking(ValueStateDescriptor("other", Types.INT())), "other", "new", "no state of this name"),
        (Asking(error="no such server"), "sum", "unknown", "could not be opened here.*no such server"),
    ],
)
def test_c28_changed_states_are_told_with_the_reason(savepoint: str, function: Asking, state: str, verdict: str, why: str) -> None:
    found = checked(savepoint, function)
    told = verdicts(found)[state]
    assert told[0] == verdict and re.search(why, told[1])
    assert found.fits == (verdict != "incompatible")


class Counting(Asking):
    """Notes in a file how often it was opened: functions are sent to their tasks as copies."""

    def __init__(self, path: Path, *descriptors: Any) -> None:
        super().__init__(*descriptors)
        self.path = path

    def open(self, runtime_context):
        with self.path.open("a") as file:
            file.write("opened\n")
        super().open(runtime_context)


def test_a_job_whose_state_does_not_fit_is_not_tried_again(savepoint: str, tmp_path: Path) -> None:
    retries = {"restart__strategy_type": "fixed-delay", "restart__strategy_fixed__delay_attempts": "9"}
    allowed = "execution_state__recovery_ignore__unclaimed__state"
    env = environment(None, **{"execution_state__recovery_path": savepoint, allowed: "true", **retries})
    stream = env.from_source(ManualSource(), WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
    counting = Counting(tmp_path / "opened", ValueStateDescriptor("sum", Types.STRING()))
    stream.key_by(lambda n: "a", Types.STRING()).process(counting).set_parallelism(1).uid("sums").print()
    with pytest.raises(JobExecutionError, match=r"Integer.*String"):
        start(env)
    assert (tmp_path / "opened").read_text() == "opened\n"


def test_what_is_told_is_what_happens(savepoint: str) -> None:
    """The job starts, or not, as the check has said."""
    for function in (Asking(SUM, ALL), Asking(ValueStateDescriptor("sum", Types.STRING())), Asking(SUM)):
        allowed = "execution_state__recovery_ignore__unclaimed__state"
        env = environment(None, **{"execution_state__recovery_path": savepoint, allowed: "true"})
        stream = env.from_source(ManualSource(), WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
        stream.key_by(lambda n: "a", Types.STRING()).process(function).uid("sums").print()
        if checked(savepoint, function).fits:
            start(env).close()
        else:
            with pytest.raises(JobExecutionError, match="sum"):
                start(env)


def test_another_maximum_parallelism_is_incompatible(savepoint: str) -> None:
    why = "maximum parallelism 128 in the savepoint, 64 in the program; set_max_parallelism(128)"
    found = checked(savepoint, Asking(SUM), max_parallelism=64)
    assert verdicts(found) == {"sum": ("incompatible", why), "all": ("incompatible", why)}
    assert not found.fits


def test_c29_an_operator_without_a_uid_is_warned_of_with_its_line(savepoint: str) -> None:
    found = checked(savepoint, Asking(SUM), uid=None)
    (warning,) = found.warnings
    assert re.search(r"Sums \(.*test_savepoint_command.py:\d+\) has state and no uid", warning)
    assert found.drops


def check(folder: Path, savepoint: str, program: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "job.py").write_text(program)
    begin = "import sys; sys.argv[0] = 'wiesel'; from wiesel.platform.cli import main; main()"
    arguments = [sys.executable, "-c", begin, "savepoint", "check", *options, "job.py", savepoint]
    return subprocess.run(arguments, cwd=folder, capture_output=True, text=True, timeout=150)


def test_the_command_tells_whether_the_job_would_start(savepoint: str, tmp_path: Path) -> None:
    ended = check(tmp_path, savepoint, PROGRAM)
    assert ended.stderr == "" and "never reached" not in ended.stdout
    lines = ended.stdout.splitlines()
    assert re.search(r"^Sums \(uid 'sums'\) +sum +converted +\S*job.py:18 +its", ended.stdout, re.MULTILINE), "with the program's line"
    assert re.search(r"^nameless \(id \w+\) .* dropped ", ended.stdout, re.MULTILINE)
    assert lines[-1].startswith("the job would start with --allowNonRestoredState only")
    assert ended.returncode == 1
    allowed = check(tmp_path, savepoint, PROGRAM, "-n")
    assert (allowed.returncode, allowed.stdout.splitlines()[-1]) == (0, "the job would start")


def test_a_program_that_fails(savepoint: str, tmp_path: Path) -> None:
    failed = check(tmp_path, savepoint, "raise ValueError('broken')")
    assert failed.returncode == 1 and "broken" in failed.stderr and failed.stdout == ""


def test_what_is_no_savepoint_is_not_checked(tmp_path: Path) -> None:
    with pytest.raises(CorruptCheckpointError, match="there is no checkpoint"):
        checked(str(tmp_path / "nowhere"), Asking())


def test_c25_savepoints_are_listed_with_time_size_and_label_and_disposed_of(tmp_path: Path) -> None:
    first, second = take(tmp_path, "before the change"), take(tmp_path, "", stop=True)
    (tmp_path / "something else").mkdir()
    told = wiesel("list", str(tmp_path))
    assert told.exit_code == 0
    rows = {line.split()[-1]: re.split(r"\s{2,}", line) for line in told.output.splitlines()[1:]}
    assert rows.keys() == {first, second}
    for path, label, how in ((first, "before the change", "-"), (second, "-", "stopped")):
        taken, size, told_label, _, told_how, _ = rows[path]
        assert (told_label, told_how) == (label, how)
        # The clock of the local engine stands at its start.
        assert taken == "1970-01-01T00:00:00.000Z"
        assert int(size) == sum(p.stat().st_size for p in Path(path).iterdir())
    assert wiesel("dispose", first).exit_code == 0
    assert not os.path.exists(first) and os.path.exists(second)
    shutil.copytree(second, tmp_path / "torn")
    (tmp_path / "torn" / "_metadata").write_bytes(b"torn")
    told = wiesel("list", str(tmp_path))
    assert told.exit_code == 1 and second in told.output and "torn/_metadata is not" in told.output


def test_c25_the_job_is_restored_to_the_second_last_of_the_list(tmp_path: Path) -> None:
    numbers = ManualSource()
    job, _ = totals(numbers, None)
    with job:
        for number in (1, 10, 100):
            numbers.push(("a", number))
            job.settle()
            job.advance_processing_time(60_000)
            job.savepoint(tmp_path, label=f"with {number}")
    lines = wiesel("list", str(tmp_path)).output.splitlines()[1:]
    assert [re.split(r"\s{2,}", line)[2] for line in lines] == ["with 100", "with 10", "with 1"], "the newest first"
    job, results = totals(numbers, None, lines[1].split()[-1])
    with job:
        numbers.push(("a", 1000))
        job.settle()
        # The hundred is read again: the position is that of the savepoint, too.
        assert results.values == [("a", 111), ("a", 1111)]


def test_what_is_no_savepoint_is_not_disposed_of(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path, tmp_path / "file", tmp_path / "nowhere"):
        told = wiesel("dispose", str(path))
        assert told.exit_code == 1 and "there is no savepoint" in told.output
    assert wiesel("list", str(tmp_path)).output == f"there are no savepoints in {tmp_path}\n"
    assert (tmp_path / "file").exists()
