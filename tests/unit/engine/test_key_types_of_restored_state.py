"""State is found by its keys, so a program that declares another key type cannot start from it, unless all keys stay the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.engine.stored_job import StoredJob, Total, environment, start
from wiesel.checkpoint.metadata import decode_metadata, encode_metadata
from wiesel.common import Row, Types, WatermarkStrategy
from wiesel.core.errors import StateMigrationError
from wiesel.sql.session.translation import to_stream
from wiesel.state_processor import KeyedStateBootstrapFunction, OperatorTransformation, SavepointWriter
from wiesel.state_processor.compatibility import SavepointCheck, check_savepoint
from wiesel.table import StreamTableEnvironment
from wiesel.testing import CollectedStream, ManualSource
from wiesel.testing.environment import LocalEnvironment
from wiesel.types.evolution import keys_stay

Key = tuple[Callable[[Any], Any], Any]

LONG: Key = (lambda pair: pair[0], Types.LONG())
STRING: Key = (lambda pair: str(pair[0]), Types.STRING())


class WithTimer(Total):
    """Has a timer beside its state."""

    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(1000)
        yield from super().process_element(value, ctx)


def program(env: LocalEnvironment, numbers: ManualSource, key: Key) -> CollectedStream:
    stream = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
    return env.collect(stream.key_by(*key).process(WithTimer()).uid("total").name("Total"))


def job_of(key: Key, restore: str | None = None, **config: Any) -> tuple[StoredJob, CollectedStream, ManualSource]:
    if restore is not None:
        config["execution_state__recovery_path"] = restore
    env, numbers = environment(None, **config), ManualSource()
    results = program(env, numbers, key)
    if restore is not None:
        numbers.push(None)  # what the job before has read
    return start(env), results, numbers


def taken(directory: Path, key: Key, value: Any = 7) -> str:
    """Return a savepoint of a job in which one key has the sum 1."""
    job, _, numbers = job_of(key)
    with job:
        numbers.push((value, 1))
        job.settle()
        return job.savepoint(directory)


@pytest.fixture(scope="module")
def by_long(tmp_path_factory: pytest.TempPathFactory) -> str:
    return taken(tmp_path_factory.mktemp("savepoints"), LONG)


def checked(path: str, key: Key) -> SavepointCheck:
    env = environment(None)
    program(env, ManualSource(), key)
    return check_savepoint(env._generate_stream_graph(), path)


def test_another_key_type_is_refused_with_both_types_and_what_to_do(by_long: str) -> None:
    with pytest.raises(StateMigrationError) as refused:
        job_of(STRING, by_long)
    message = refused.value.message
    assert message.startswith("the state of Total (") and "test_key_types_of_restored_state.py:" in message
    assert "by keys of type Long" in message and "key_by() declares String now" in message
    assert "declare the old key type again" in str(refused.value.hint)


def test_that_state_may_be_dropped_does_not_allow_another_key_type(by_long: str) -> None:
    with pytest.raises(StateMigrationError, match="no state would be found"):
        job_of(STRING, by_long, execution_state__recovery_ignore__unclaimed__state="true")


def test_the_check_of_a_savepoint_tells_it_of_each_keyed_state(by_long: str) -> None:
    found = checked(by_long, STRING)
    assert not found.fits
    assert [(v.state, v.verdict) for v in found.verdicts if v.operator.startswith("Total ")] == [("sum", "incompatible")]
    assert "declare the old key type again" in next(v.reason for v in found.verdicts if v.state == "sum")
    assert checked(by_long, LONG).fits


@pytest.mark.parametrize("backend", ["hashmap", "lmdb", "rocksdb"])
@pytest.mark.parametrize("wider", [Types.LONG(), Types.BIG_INT(), Types.BIG_DEC(), None], ids=str)
def test_state_is_found_under_a_wider_key_type(by_long: str, backend: str, wider: Any) -> None:
    job, results, numbers = job_of((LONG[0], wider), by_long, state_backend_type=backend)
    with job:
        numbers.push_all([(7, 10), (8, 10)])
        job.settle()
    assert [total for _, total in results.values] == [11, 10]


def test_keys_without_a_declared_type_are_any_objects(tmp_path: Path) -> None:
    path = taken(tmp_path, (lambda pair: pair[0], None))
    job, results, numbers = job_of(LONG, path)
    with job:
        numbers.push((7, 10))
        job.settle()
    assert [total for _, total in results.values] == [11]


def test_an_operator_that_has_no_keyed_state_yet_may_get_other_keys(tmp_path: Path) -> None:
    job, _, _ = job_of(LONG)
    with job:
        path = job.savepoint(tmp_path)
    assert checked(path, STRING).fits
    env, numbers = environment(None, execution_state__recovery_path=path), ManualSource()
    results = program(env, numbers, STRING)
    with start(env) as job:
        numbers.push((7, 10))
        job.settle()
    assert results.values == [(7, 10)]


def test_metadata_of_older_versions_has_no_key_types_and_is_not_checked(by_long: str, tmp_path: Path) -> None:
    checkpoint, facts = decode_metadata((Path(by_long) / "_metadata").read_bytes(), "here")
    told = [operator.pop("keyTypes", None) for vertex in facts["vertices"] for operator in vertex["operators"]]
    assert [{"version": 1, "serializer": "type", "type": "basic", "name": "LONG"}] in told
    (tmp_path / "_metadata").write_bytes(encode_metadata(checkpoint, facts))
    with job_of(STRING, str(tmp_path))[0]:
        pass


def test_both_inputs_of_a_connection_are_checked(tmp_path: Path) -> None:
    from wiesel.datastream import KeyedCoProcessFunction
    from wiesel.datastream.state import ValueStateDescriptor

    class Both(KeyedCoProcessFunction):
        def open(self, runtime_context):
            self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.LONG()))

        def process_element1(self, value, ctx):
            self.last.update(value[1])

        def process_element2(self, value, ctx):
            yield self.last.value()

    def connected(second: Key, restore: dict[str, str]) -> tuple[StoredJob, ManualSource]:
        env, numbers = environment(None, **restore), ManualSource()
        one = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "one").uid("one")
        two = env.from_source(ManualSource(), WatermarkStrategy.no_watermarks(), "two").uid("two")
        env.collect(one.key_by(lambda pair: pair[0]).connect(two.key_by(*second)).process(Both()).uid("both"))
        return start(env), numbers

    job, numbers = connected(LONG, {})
    with job:
        numbers.push((7, 1))
        job.settle()
        path = job.savepoint(tmp_path)
    with pytest.raises(StateMigrationError, match=r"keys of type Long, and key_by\(\) declares String"):
        connected(STRING, {"execution_state__recovery_path": path})


class Put(KeyedStateBootstrapFunction):
    def open(self, runtime_context):
        self.total = Total()
        self.total.open(runtime_context)

    def process_element(self, value, ctx):
        self.total.sum.update(value[1])


def test_what_the_state_processor_writes_or_takes_over_has_its_key_types(by_long: str, tmp_path: Path) -> None:
    made = OperatorTransformation.bootstrap_with([(7, 1)]).key_by(*LONG).transform(Put())
    new = SavepointWriter.new_savepoint().with_operator("total", made).write(str(tmp_path / "new"))
    kept = SavepointWriter.from_existing_savepoint(by_long).remove_operator("numbers").write(str(tmp_path / "kept"))
    # By the new keys, as the message advises.
    by_string = OperatorTransformation.bootstrap_with([("7", 1)]).key_by(*STRING).transform(Put())
    fixed = SavepointWriter.from_existing_savepoint(by_long).remove_operator("total").with_operator("total", by_string)
    for path in (new, kept):
        with pytest.raises(StateMigrationError, match="no state would be found"):
            job_of(STRING, path)
    job, results, numbers = job_of(STRING, fixed.write(str(tmp_path / "fixed")))
    with job:
        numbers.push((7, 10))
        job.settle()
    assert results.values == [(7, 11)]


def test_in_sql_another_key_type_is_another_operator_whose_state_is_missed(tmp_path: Path) -> None:
    def query(kind: Any, **config: Any) -> tuple[StoredJob, ManualSource]:
        env, rows = environment(None, **config), ManualSource()
        t_env = StreamTableEnvironment.create(env)
        stream = env.from_source(rows, WatermarkStrategy.no_watermarks(), "rows").uid("rows")
        typed = stream.map(lambda n: Row(n if kind == Types.LONG() else str(n)), Types.ROW_NAMED(["k"], [kind])).uid("typed")
        t_env.create_temporary_view("t", typed)
        env.collect(to_stream(env, t_env.sql_query("SELECT k, COUNT(*) FROM t GROUP BY k")._plan, changelog=True))
        return start(env), rows

    job, rows = query(Types.LONG())
    with job:
        rows.push(7)
        job.settle()
        path = job.savepoint(tmp_path)
    with pytest.raises(StateMigrationError, match=r"has state of operators that the program does not have: .*Aggregate"):
        query(Types.STRING(), execution_state__recovery_path=path)
    with query(Types.LONG(), execution_state__recovery_path=path)[0]:
        pass


PAIRS = Types.TUPLE([Types.INT(), Types.STRING()])


@pytest.mark.parametrize(
    ("old", "new", "stay"),
    [
        (Types.INT(), Types.LONG(), True),
        (Types.BYTE(), Types.BIG_DEC(), True),
        (Types.LONG(), Types.INT(), False),
        (Types.FLOAT(), Types.DOUBLE(), False),
        (Types.BOOLEAN(), Types.INT(), False),
        (Types.STRING(), Types.PICKLED_BYTE_ARRAY(), True),
        (PAIRS, Types.TUPLE([Types.LONG(), Types.STRING()]), True),
        (PAIRS, Types.TUPLE([Types.STRING(), Types.STRING()]), False),
        (PAIRS, Types.TUPLE([Types.INT()]), False),
        (PAIRS, Types.ROW([Types.INT(), Types.STRING()]), False),
        (Types.ROW_NAMED(["a"], [Types.INT()]), Types.ROW_NAMED(["a"], [Types.LONG()]), True),
        (Types.ROW_NAMED(["a"], [Types.INT()]), Types.ROW_NAMED(["b"], [Types.INT()]), False),
        (Types.SQL_DATE(), Types.SQL_TIMESTAMP(), False),
        (Types.SQL_DATE(), Types.SQL_DATE(), True),
    ],
    ids=str,
)
def test_which_types_have_the_same_keys(old: Any, new: Any, stay: bool) -> None:
    assert keys_stay(old, new) is stay
