"""``wiesel state`` as a user meets it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.unit.state_processor.programs import user
from wiesel.common import Types
from wiesel.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from wiesel.platform.cli import main
from wiesel.state_processor import (
    BroadcastStateBootstrapFunction,
    KeyedStateBootstrapFunction,
    OperatorIdentifier,
    OperatorTransformation,
    SavepointWriter,
)

RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())


class Put(KeyedStateBootstrapFunction):
    def open(self, runtime_context):
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.INT()))
        self.pairs = runtime_context.get_list_state(ListStateDescriptor("pairs"))

    def process_element(self, value, ctx):
        self.sum.update((self.sum.value() or 0) + value[1])
        self.pairs.add(value)
        ctx.timer_service().register_event_time_timer(value[1])


class PutRules(BroadcastStateBootstrapFunction):
    def process_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(*value)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    sums = OperatorTransformation.bootstrap_with([("ada", 1), ("bob", 2), ("ada", 3)]).key_by(user, Types.STRING()).transform(Put())
    rules = OperatorTransformation.bootstrap_with([("a", 1)]).transform(PutRules())
    writer = SavepointWriter.new_savepoint(max_parallelism=64).with_operator("sums", sums).with_operator("rules", rules)
    return writer.write(str(tmp_path_factory.mktemp("made") / "first"))


def state_command(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["state", *arguments])


def test_the_command_reads_in_a_process_of_its_own_without_spark(path: str, tmp_path: Path) -> None:
    start = "import sys; from wiesel.platform.cli import main\ntry: main()\nfinally: print('pyspark' in sys.modules)"
    arguments = [sys.executable, "-c", start, "state", "read", path, "--uid", "rules", "--state", "rules"]
    ended = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines() == ['{"key": "a", "value": 1}', "False"]


def test_show_lists_operators_and_states(path: str) -> None:
    ended = state_command("show", path.removesuffix("/chk-1"))
    assert (ended.exit_code, ended.stderr) == (0, "")
    told, heads, *rows = ended.stdout.splitlines()
    assert told == f"checkpoint 1 of job 'state processor' at {path}"
    assert heads.split() == ["uid", "operator", "id", "parallelism", "bytes", "states"]
    cells = [row.split() for row in rows]
    assert cells[0][:3] == ["sums", "Put", OperatorIdentifier.for_uid("sums").operator_id]
    assert cells[0][3:6] == ["1", "of", "64"]
    assert [" ".join(cells[0][7:]), " ".join(cells[1])] == ["pairs (list)", "sum (value, Integer)"]
    assert cells[2][0] == "rules" and "rules (broadcast, " in rows[2]


def lines(*arguments: str) -> list[object]:
    ended = state_command("read", *arguments)
    assert (ended.exit_code, ended.stderr) == (0, "")
    return [json.loads(line) for line in ended.stdout.splitlines()]


def test_read_prints_rows_as_json(path: str) -> None:
    rows = lines(path, "--uid", "sums")
    assert {"key": "ada", "sum": 4, "pairs": [{"f0": "ada", "f1": 1}, {"f0": "ada", "f1": 3}]} in rows
    assert len(rows) == 2
    assert lines(path, "--operator-id", OperatorIdentifier.for_uid("sums").operator_id, "--state", "sum", "--limit", "1") in (
        [{"key": "ada", "sum": 4}],
        [{"key": "bob", "sum": 2}],
    )
    assert lines(path, "--uid", "rules", "--state", "rules") == [{"key": "a", "value": 1}]
    assert lines(path, "--uid", "sums", "--timers")[0] == {
        "time_domain": "event", "timestamp": 1, "key": "ada", "window": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--uid", "nothing"), "no operator with uid 'nothing'"),
        (("--uid", "sums", "--state", "total"), "it has pairs, sum"),
        ((), "give --uid or --operator-id"),
        (("--uid", "sums", "--state", "sum", "--timers"), "give one of them"),
    ],
)
def test_what_cannot_be_read_is_told_with_a_way_out(path: str, arguments: tuple[str, ...], message: str) -> None:
    ended = state_command("read", path, *arguments)
    assert ended.exit_code == 1
    assert ended.stdout == ""
    assert message in ended.stderr
    assert "Traceback" not in ended.stderr
