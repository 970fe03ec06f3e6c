"""Compiled plans: all plans of the SQL cases come back from their text; state of a job is found by its plan; what is refused."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.sql_cases.case_files import Case, all_cases
from tests.sql_cases.test_cases import environment
from wiesel.common import Configuration, Row
from wiesel.core.errors import ProgramError, SqlParseError, WieselError
from wiesel.spi.table.factory import ScanTableSource, TableContext, TableSourceFactory
from wiesel.sql.binding.queries import QueryBinder
from wiesel.sql.binding.set_operations import REPLICAS
from wiesel.sql.catalog import table_factories
from wiesel.sql.language import statements as s
from wiesel.sql.language.parser import parse_statement
from wiesel.sql.plan.documents import PlanReader, PlanWriter, table_document, table_of_document
from wiesel.sql.plan.operator_uids import OperatorUids
from wiesel.sql.plan.relations import Relation, walk
from wiesel.sql.rules.optimizer import optimized
from wiesel.sql.session.compiled_plans import plan_parts
from wiesel.sql.session.jobs import add_inserts
from wiesel.table import (
    AggregateFunction,
    CompiledPlan,
    DataTypes,
    PlanReference,
    Schema,
    StreamTableEnvironment,
    TableDescriptor,
    TableEnvironment,
)
from wiesel.table.catalog import CatalogFunction, ObjectPath
from wiesel.table.udf import udaf, udf, udtf
from wiesel.testing import ManualSource, local_environment

PAIRS = [(case, mode) for case in all_cases() for mode in case.modes]


def plans_of(case: Case, mode: str, out: str) -> list[Relation]:
    """Return the plans of the queries and inserts of a case, up to its first error."""
    t_env, found = environment(case, mode, 1), []
    for statement in case.statements(out):
        try:
            parsed = parse_statement(statement)
            if isinstance(parsed, s.Query):
                found.append(QueryBinder(statement, t_env._tables()).bind(parsed.tree))
            elif isinstance(parsed, s.Insert | s.StatementSet):
                found += [each.relation for each in t_env._insertions_of(statement, parsed)]
            elif not isinstance(parsed, s.CompilePlan | s.ExecutePlan):
                t_env.execute_sql(statement)
            found = optimized(found, t_env.get_config().get_configuration())
        except WieselError:
            break
    return found


def name_of(function: Any) -> list[str] | None:
    return ["replicas"] if function is REPLICAS else None


def written(plan: Relation) -> list[dict[str, Any]]:
    writer = PlanWriter(name_of, table_document)
    assert writer.number(plan) == len(writer.nodes)
    return writer.nodes


@pytest.mark.parametrize("prefix", sorted({case.name.partition("_")[0] for case, _ in PAIRS}))
def test_plans_come_back_from_their_texts(prefix: str, tmp_path: Path) -> None:
    found = 0
    for case, mode in PAIRS:
        if case.name.partition("_")[0] != prefix or case.name in ("analyze_tables", "dml_ctas", "join_reordered_analyzed", "ddl_models"):
            continue
        for plan in plans_of(case, mode, str(tmp_path)):
            nodes = written(plan)
            reader = PlanReader(json.loads(json.dumps(nodes)), table_of_document, lambda name: REPLICAS)
            back = reader.relation(len(nodes))
            assert written(back) == nodes, case.name
            mine, theirs = OperatorUids(), OperatorUids()
            assert [mine.of(each) for each in walk(plan)] == [theirs.of(each) for each in walk(back)], case.name
            assert back.fields == plan.fields
            found += 1
    assert found or prefix in ("analyze", "ddl", "plan")


class EventsFactory(TableSourceFactory):
    """Reads what the test pushes."""

    identifier = "events-test"
    source: ClassVar[Any] = None

    def create_source(self, context: TableContext) -> ScanTableSource:
        if EventsFactory.source is None:
            EventsFactory.source = ManualSource(type_info=context.row_type)
        return ScanTableSource(EventsFactory.source)


INSERT = "INSERT INTO out_t SELECT k, COUNT(*), COUNT(DISTINCT v) FROM events GROUP BY k"


def _tables(config: dict[str, str] | None = None) -> StreamTableEnvironment:
    env = local_environment(parallelism=2)
    t_env = StreamTableEnvironment.create(env)
    for key, value in (config or {}).items():
        t_env.get_config().set(key, value)
    t_env.execute_sql("CREATE TABLE events (k STRING, v INT) WITH ('connector' = 'events-test')")
    t_env.execute_sql("CREATE TABLE out_t (k STRING, n BIGINT, d BIGINT) WITH ('connector' = 'print')")
    return t_env


def test_a_savepoint_of_the_insert_fits_its_plan(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(table_factories._BUILT_IN, "events-test", f"{__name__}:EventsFactory")
    monkeypatch.setattr(EventsFactory, "source", None)
    t_env = _tables()
    text = t_env.compile_plan_sql(INSERT).as_json_string()
    statements = t_env.create_statement_set().add_insert_sql(INSERT)
    statements.attach_as_datastream()
    with t_env._environment.start() as job:
        EventsFactory.source.push_all([Row("a", 1), Row("a", 2), Row("b", 1)])
        job.settle()
        snapshot = job.checkpoint()
    capsys.readouterr()
    # With this option the statement itself is planned in another way, which does not find that state.
    t_env = _tables({"table.optimizer.distinct-agg.split.enabled": "true", "table.exec.state.ttl": "1 ms"})
    plan = plan_parts(text, t_env._catalogs, t_env.get_config().get_configuration())
    add_inserts(t_env._environment, plan.insertions, planned=True)
    with t_env._environment.start(restore_from=snapshot) as job:
        EventsFactory.source.push_all([Row("a", 1), Row("b", 7)])
        job.finish()
    lines = Counter(line.partition("> ")[2] or line for line in capsys.readouterr().out.splitlines())
    assert lines["+U[a, 3, 2]"] == 1
    assert lines["+U[b, 2, 2]"] == 1


def small(config: dict[str, str] | None = None) -> TableEnvironment:
    settings = Configuration().set("wiesel.engine", "local")
    for key, value in (config or {}).items():
        settings.set(key, value)
    t_env = TableEnvironment.create(settings)
    t_env.execute_sql(
        "CREATE TABLE numbers (n INT) WITH ('connector' = 'datagen', 'number-of-rows' = '5', 'fields.n.kind' = 'sequence', "
        "'fields.n.start' = '1', 'fields.n.end' = '5')"
    )
    t_env.execute_sql("CREATE TABLE out_t (n BIGINT) WITH ('connector' = 'print')")
    return t_env


def lines_of(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return sorted(line.partition("> ")[2] or line for line in capsys.readouterr().out.splitlines())


def test_functions_are_found_again_by_their_names(capsys: pytest.CaptureFixture[str]) -> None:
    def with_functions(times: int) -> TableEnvironment:
        t_env = small()
        t_env.create_temporary_system_function("scaled", udf(lambda n: n * times, result_type=DataTypes.BIGINT()))
        t_env.create_temporary_function("twice", udtf(lambda n: [n, n], result_types=[DataTypes.BIGINT()]))
        return t_env

    insert = "INSERT INTO out_t SELECT scaled(x) FROM numbers, LATERAL TABLE(twice(n)) AS t (x) WHERE n > 3"
    text = with_functions(10).compile_plan_sql(insert).as_json_string()
    with_functions(100).load_plan(PlanReference.from_json_string(text)).execute().wait()
    assert lines_of(capsys) == ["+I[400]", "+I[400]", "+I[500]", "+I[500]"]
    with pytest.raises(ProgramError, match=r"the function '(scaled|twice)' of the plan was not found"):
        small().load_plan(PlanReference.from_json_string(text))


def test_what_lives_in_the_program_is_refused() -> None:
    t_env = small()
    rows = t_env.from_elements([(1,)], ["n"])
    with pytest.raises(ProgramError, match="rows of the program"):
        rows.insert_into("out_t").compile_plan()
    nameless = udf(lambda n: n, result_type=DataTypes.BIGINT())
    with pytest.raises(ProgramError, match="no catalog knows it"):
        t_env.from_path("numbers").map(nameless).insert_into("out_t").compile_plan()
    with pytest.raises(ProgramError, match="inserts only"):
        t_env.compile_plan_sql("SELECT n FROM numbers")
    with pytest.raises(ProgramError, match="nothing to insert"):
        t_env.create_statement_set().compile_plan()


class Longest(AggregateFunction):
    """The greatest number."""

    def create_accumulator(self) -> Any:
        return [0]

    def accumulate(self, accumulator: Any, *args: Any) -> None:
        accumulator[0] = max(accumulator[0], args[0])

    def get_value(self, accumulator: Any) -> int:
        return int(accumulator[0])


MODEL = "INPUT (text STRING) OUTPUT (loud STRING) WITH ('provider' = 'python', 'function' = '{}')"
ASKED = "INSERT INTO out SELECT loud FROM ML_PREDICT(TABLE words, MODEL {}, DESCRIPTOR(w))"


def shout(text: str) -> str:
    return text.upper() + "!"


def ask(text: str) -> str:
    return text + "?"


def of_words(options: dict[str, str] | None = None) -> TableEnvironment:
    config = Configuration().set("wiesel.engine", "local").set("execution.runtime-mode", "BATCH")
    for key, value in (options or {}).items():
        config.set(key, value)
    t_env = TableEnvironment.create(config)
    t_env.execute_sql("CREATE TABLE out (s STRING) WITH ('connector' = 'print')")
    t_env.execute_sql("CREATE VIEW words AS SELECT 'a' AS w")
    return t_env


def printed(t_env: TableEnvironment, plan: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    t_env.load_plan(PlanReference.from_json_string(plan)).execute().wait()
    return capsys.readouterr().out


def test_plans_keep_models(capsys: pytest.CaptureFixture[str]) -> None:
    t_env = of_words()
    t_env.execute_sql(f"CREATE MODEL m {MODEL.format(__name__ + '.shout')}")
    plan = t_env.compile_plan_sql(ASKED.format("m")).as_json_string()
    assert printed(t_env, plan, capsys) == printed(of_words(), plan, capsys) == "+I[A!]\n"
    other = of_words()
    other.execute_sql(f"CREATE MODEL m {MODEL.format(__name__ + '.ask')}")
    assert printed(other, plan, capsys) == "+I[A!]\n"
    other.get_config().set("table.plan.restore.catalog-objects", "IDENTIFIER")
    assert printed(other, plan, capsys) == "+I[a?]\n"
    changed = of_words()
    changed.execute_sql("CREATE MODEL m INPUT (text STRING) OUTPUT (n INT) WITH ('provider' = 'python', 'function' = 'a.b')")
    with pytest.raises(ProgramError, match=r"the inputs and outputs of model .*`m` are not those of the plan"):
        changed.load_plan(PlanReference.from_json_string(plan))


@pytest.mark.parametrize("temporary", [True, False])
def test_models_of_which_a_plan_has_the_name_only_are_looked_up(temporary: bool, capsys: pytest.CaptureFixture[str]) -> None:
    t_env = of_words({} if temporary else {"table.plan.compile.catalog-objects": "IDENTIFIER"})
    t_env.execute_sql(f"CREATE {'TEMPORARY ' if temporary else ''}MODEL m {MODEL.format(__name__ + '.shout')}")
    plan = t_env.compile_plan_sql(ASKED.format("m")).as_json_string()
    other = of_words()
    with pytest.raises(ProgramError, match=r"model .*`m` of the plan was not found"):
        other.load_plan(PlanReference.from_json_string(plan))
    other.execute_sql(f"CREATE MODEL m {MODEL.format(__name__ + '.ask')}")
    assert printed(other, plan, capsys) == "+I[a?]\n"


def test_a_function_without_code_stands_in_no_plans_way() -> None:
    t_env = of_words()
    catalog = t_env.get_catalog("default_catalog")
    assert catalog is not None
    catalog.create_function(ObjectPath("default_database", "java"), CatalogFunction.create_instance("org.Some", "Java"), False)
    t_env.create_temporary_function("loud", udf(shout, result_type=DataTypes.STRING()))
    assert '"LOUD"' in t_env.compile_plan_sql("INSERT INTO out SELECT loud(w) FROM words").as_json_string()


def test_aggregates_of_users_are_found_again(capsys: pytest.CaptureFixture[str]) -> None:
    def with_function() -> TableEnvironment:
        t_env = small({"execution.runtime-mode": "BATCH"})
        longest = udaf(Longest(), result_type=DataTypes.BIGINT(), accumulator_type=DataTypes.ARRAY(DataTypes.BIGINT()))
        t_env.create_temporary_system_function("longest", longest)
        return t_env

    text = with_function().compile_plan_sql("INSERT INTO out_t SELECT longest(n) FROM numbers").as_json_string()
    with_function().execute_plan(PlanReference.from_json_string(text)).wait()
    assert lines_of(capsys) == ["+I[5]"]


def test_plans_in_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    t_env = small()
    plan = t_env.from_path("numbers").insert_into("out_t").compile_plan()
    file = tmp_path / "plans" / "p.json"
    plan.write_to_file(file)
    with pytest.raises(ProgramError, match="is there already"):
        plan.write_to_file(file)
    plan.write_to_file(file, ignore_if_exists=True)
    reference = PlanReference.from_file(file)
    assert reference.get_file() == file
    assert reference == PlanReference.from_file(str(file)) != PlanReference.from_json_string("{}")
    assert len({reference, PlanReference.from_file(file)}) == 1
    assert str(t_env.load_plan(reference)) == str(plan) == file.read_text()
    t_env.execute_plan(reference).wait()
    assert lines_of(capsys) == [f"+I[{n}]" for n in range(1, 6)]
    explained = CompiledPlan(file.read_text(), t_env).explain()
    assert explained.startswith("== Optimized Execution Plan ==\nSink(")
    assert "Abstract Syntax Tree" not in explained


def test_tables_without_names_are_kept_whole(tmp_path: Path) -> None:
    t_env = small()
    schema = Schema.new_builder().column("n", "INT").build()
    target = TableDescriptor.for_connector("filesystem").schema(schema).option("path", str(tmp_path / "t")).format("csv").build()
    text = t_env.from_path("numbers").insert_into(target).compile_plan().as_json_string()
    other = small()
    other.execute_plan(PlanReference.from_json_string(text)).wait()
    files = [each.read_text() for each in (tmp_path / "t").iterdir()]
    assert sorted("".join(files).split()) == list("12345")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense", "this is no compiled plan"),
        ("[]", "this is no compiled plan"),
        ('{"flinkVersion": "2.3", "nodes": []}', "a compiled plan of Flink"),
        ('{"planVersion": 99, "wieselVersion": "9.9"}', "compiled by Wiesel 9.9"),
        ('{"planVersion": 1, "nodes": [{"id": 1, "$": "os"}], "sinks": []}', "the plan cannot be read"),
    ],
)
def test_texts_that_are_no_plans(text: str, message: str) -> None:
    with pytest.raises(ProgramError, match=message) as caught:
        small().load_plan(PlanReference.from_json_string(text))
    assert caught.value.hint


def test_plans_belong_to_a_mode() -> None:
    text = small().compile_plan_sql("INSERT INTO out_t SELECT n FROM numbers").as_json_string()
    batch = small({"execution.runtime-mode": "BATCH"})
    with pytest.raises(ProgramError, match="compiled in STREAMING mode"):
        batch.execute_plan(PlanReference.from_json_string(text))


def test_options_of_the_session_that_compiled_count(capsys: pytest.CaptureFixture[str]) -> None:
    key = "table.exec.sink.not-null-enforcer"

    def tables(enforcer: str) -> TableEnvironment:
        t_env = small({key: enforcer})
        t_env.execute_sql("CREATE TABLE strict_t (n BIGINT NOT NULL) WITH ('connector' = 'print')")
        return t_env

    insert = "INSERT INTO strict_t SELECT NULLIF(n, 3) FROM numbers"
    text = tables("DROP").compile_plan_sql(insert).as_json_string()
    t_env = tables("ERROR")
    t_env.execute_plan(PlanReference.from_json_string(text)).wait()
    assert lines_of(capsys) == ["+I[1]", "+I[2]", "+I[4]", "+I[5]"]
    assert t_env.get_config().get(key, "") == "ERROR"


def test_statements_that_cannot_be_read() -> None:
    for sql in ("COMPILE PLAN FOR INSERT INTO a SELECT 1", "COMPILE PLAN 'p' INSERT INTO a SELECT 1", "EXECUTE PLAN p"):
        with pytest.raises(SqlParseError):
            parse_statement(sql)
    parsed = parse_statement("COMPILE AND EXECUTE PLAN 'p' FOR INSERT INTO a SELECT 1")
    assert isinstance(parsed, s.CompilePlan)
    assert parsed.executes
