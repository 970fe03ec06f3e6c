"""Tables by name."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from wiesel.common import Configuration, Row, Types
from wiesel.core.errors import ConfigurationError, ProgramError
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.table import DataTypes, Schema, StreamTableEnvironment, TableDescriptor


@pytest.fixture
def t_env() -> StreamTableEnvironment:
    config = Configuration().set("wiesel.engine", "local")
    return StreamTableEnvironment.create(stream_execution_environment=StreamExecutionEnvironment.get_execution_environment(config))


def described(*columns: tuple[str, Any], **options: Any) -> TableDescriptor:
    builder = Schema.new_builder()
    for name, data_type in columns or [("a", DataTypes.INT())]:
        builder.column(name, data_type)
    return with_schema(builder.build(), **options)


def with_schema(schema: Schema, **options: Any) -> TableDescriptor:
    builder = TableDescriptor.for_connector("datagen").schema(schema)
    for key, value in options.items():
        builder.option(key.replace("_", "-"), value)
    return builder.build()


def line_above() -> str:
    frame = inspect.currentframe()
    assert frame is not None and frame.f_back is not None
    return f"{__file__}:{frame.f_back.f_lineno - 1}"


# The names and answers of the next two tests are those of real Flink.


def test_tables_are_listed_in_order_and_dropped(t_env: StreamTableEnvironment) -> None:
    for path in ("t1", "T1", "default_database.t2", "default_catalog.default_database.t3", "other.db.t4", "`my t.a`"):
        t_env.create_temporary_table(path, described())
    assert t_env.list_tables() == t_env.list_temporary_tables() == ["T1", "my t.a", "t1", "t2", "t3"]
    assert [t_env.drop_temporary_table(path) for path in ("t1", "t1", "default_database.t3", "other.db.t4", "nope")] == [
        True,
        False,
        True,
        True,
        False,
    ]
    assert t_env.list_tables() == ["T1", "my t.a", "t2"]


def test_schemas_of_tables(t_env: StreamTableEnvironment, capsys: pytest.CaptureFixture[str]) -> None:
    row = DataTypes.ROW([DataTypes.FIELD("x", DataTypes.INT())])
    schema = Schema.new_builder().column("a b", "INT NOT NULL").column("b", row).primary_key("a b").build()
    t_env.create_temporary_table("other.db.t", with_schema(schema))
    t_env.from_path("other . db . t").print_schema()
    assert (
        capsys.readouterr().out
        == "(\n  `a b` INT NOT NULL,\n  `b` ROW<`x` INT>,\n  CONSTRAINT `PK_a b` PRIMARY KEY (`a b`) NOT ENFORCED\n)\n"
    )


def test_a_name_is_taken_once(t_env: StreamTableEnvironment, capsys: pytest.CaptureFixture[str]) -> None:
    t_env.create_temporary_table("t", described())
    first = line_above()
    with pytest.raises(ProgramError, match=r"temporary table `default_catalog`.`default_database`.`t` already exists") as caught:
        t_env.create_temporary_table("default_database.t", described(("b", "INT")))
    assert f"(made at {first})" in str(caught.value) and f"(at {__file__}:" in str(caught.value)
    t_env.create_temporary_table("t", described(("b", "INT")), True)
    t_env.from_path("t").print_schema()
    assert "`a` INT" in capsys.readouterr().out


def test_an_unknown_table_tells_those_there_are(t_env: StreamTableEnvironment) -> None:
    with pytest.raises(ProgramError, match=r"table `nope` was not found .*test_environment.py:.*there are no tables yet"):
        _one_line(lambda: t_env.from_path("nope"))
    t_env.create_temporary_table("orders", described())
    with pytest.raises(ProgramError, match=r"table `default_database`.`order` was not found .*did you mean `orders`"):
        _one_line(lambda: t_env.from_path("default_database.order"))
    with pytest.raises(ProgramError, match="the tables are: `orders`"):
        t_env.from_path("something")
    with pytest.raises(ProgramError, match="invalid table path 'a b'"):
        t_env.from_path("a b")
    with pytest.raises(ProgramError, match="invalid table path ''"):
        t_env.drop_temporary_table("")


def _one_line(call: Any) -> None:
    try:
        call()
    except ProgramError as error:
        raise ProgramError(str(error).replace("\n", " ")) from error


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        (Schema.new_builder().column("a", "INT").column("a", "INT"), r"two columns of one name; found duplicates: \['a'\]"),
        (Schema.new_builder().column("a", "INT").primary_key("b"), "invalid primary key `PK_b`: column `b` is not a stored column"),
        (Schema.new_builder().column_by_metadata("m", "INT").primary_key("m"), "column `m` is not a stored column"),
        (Schema.new_builder().column("a", "INT").primary_key("a"), "invalid primary key `PK_a`: column `a` is nullable"),
        (Schema.new_builder().column("a", "INT NOT NULL").primary_key("a", "a"), "invalid primary key `PK_a_a`: a column occurs twice"),
        (Schema.new_builder().column("a", "INTT"), "column `a`: could not parse the type 'INTT'"),
        (Schema.new_builder().column("a", "ARRAY<INT"), "column `a`: could not parse the type 'ARRAY<INT' at position 9"),
    ],
)
def test_schemas_that_contradict_themselves(t_env: StreamTableEnvironment, schema: Schema.Builder, problem: str) -> None:
    with pytest.raises(ProgramError, match=problem) as caught:
        t_env.create_temporary_table("t", with_schema(schema.build()))
    assert f"(at {__file__}:" in str(caught.value) and caught.value.hint and t_env.list_tables() == []


@pytest.mark.parametrize("columns", ["", "(day STRING) PARTITIONED BY (day)"])
def test_a_table_without_a_schema_of_its_files_is_refused_where_it_is_read(t_env: StreamTableEnvironment, columns: str) -> None:
    t_env.execute_sql(f"CREATE TABLE t {columns} WITH ('connector' = 'filesystem', 'path' = 'nowhere', 'format' = 'json')")
    with pytest.raises(ProgramError, match="the table has no columns that are in its files") as caught:
        t_env.sql_query("SELECT COUNT(*) FROM t").execute()
    assert "default_database.t'" in str(caught.value) and "columns" in str(caught.value.hint)


@pytest.mark.parametrize("columns", ["", "(at_ AS PROCTIME())"])
def test_a_table_without_stored_columns_has_rows_nonetheless(t_env: StreamTableEnvironment, columns: str) -> None:
    t_env.execute_sql(f"CREATE TABLE t {columns} WITH ('connector' = 'datagen', 'number-of-rows' = '2')")
    with t_env.sql_query("SELECT 1 FROM t").execute().collect() as rows:
        assert [list(row) for row in rows] == [[1], [1]]
    with t_env.sql_query("SELECT COUNT(*) FROM t").execute().collect() as rows:
        assert [list(row) for row in rows] == [[1], [1], [2]]  # inserted, and what takes its place


def test_descriptors_that_make_no_table(t_env: StreamTableEnvironment) -> None:
    with pytest.raises(ProgramError, match="the table's descriptor has no schema"):
        t_env.create_temporary_table("t", TableDescriptor.for_connector("datagen").build())
    partitioned = (
        TableDescriptor.for_connector("datagen").schema(Schema.new_builder().column("a", "INT").build()).partitioned_by("b").build()
    )
    with pytest.raises(ProgramError, match=r"partition key `b` is not a stored column of the table"):
        t_env.create_temporary_table("t", partitioned)
    with pytest.raises(ProgramError, match="create_temporary_table"):
        t_env.create_temporary_table("t", TableDescriptor.for_connector("datagen"))  # type: ignore[arg-type]


def test_a_table_is_checked_when_it_is_read(t_env: StreamTableEnvironment) -> None:
    t_env.create_temporary_table("t", described(foo="1"))
    made = line_above()
    table = t_env.from_path("t")
    with pytest.raises(
        ConfigurationError, match=r"reading table 'default_catalog.default_database.t'.*unsupported options for 'datagen': foo"
    ) as caught:
        t_env.to_data_stream(table)
    assert f"(made at {made})" in str(caught.value) and f"(at {__file__}:" in str(caught.value)
    t_env.create_temporary_table("i", described(("a", DataTypes.INTERVAL(DataTypes.DAY()))))
    with pytest.raises(ProgramError, match=r"column `a`: values of type INTERVAL DAY\(2\) cannot become records of a stream"):
        t_env.to_data_stream(t_env.from_path("i"))
    t_env.create_temporary_table("n", described(("a", DataTypes.NULL())))
    with pytest.raises(ProgramError, match="column `a`: values of type NULL cannot"):
        t_env.to_data_stream(t_env.from_path("n"))


def test_streams_have_the_tables_type_name_and_parallelism(t_env: StreamTableEnvironment) -> None:
    schema = Schema.new_builder().column("id", "BIGINT NOT NULL").column("at", "TIMESTAMP_LTZ(3)").build()
    t_env.create_temporary_table("db.clicks", with_schema(schema, **{"scan.parallelism": 2}))
    stream = t_env.to_data_stream(t_env.from_path("db.clicks"))
    assert str(stream.get_type()) == "ExternalTypeInfo<RowTypeInfo(id: Long, at: Instant)>"
    assert stream.get_name() == "clicks"
    [source] = [node for node in plan_of(stream) if node.is_source]
    assert source.parallelism == 2 and not source.bounded and source.user_location.startswith(__file__)


def plan_of(stream: Any) -> Any:
    stream.print()
    return stream.get_execution_environment()._generate_stream_graph().nodes.values()


def test_environments_do_not_mix(t_env: StreamTableEnvironment) -> None:
    other = StreamTableEnvironment.create(StreamExecutionEnvironment.get_execution_environment())
    t_env.create_temporary_table("t", described())
    with pytest.raises(ProgramError, match="the table belongs to another environment"):
        other.to_data_stream(t_env.from_path("t"))
    with pytest.raises(ProgramError, match="table `t` was not found"):
        other.from_path("t")
    stream = StreamExecutionEnvironment.get_execution_environment().from_collection([Row(1)], Types.ROW([Types.INT()]))
    with pytest.raises(ProgramError, match="the stream belongs to another environment"):
        t_env.from_data_stream(stream)


@pytest.mark.parametrize(
    "call",
    [
        lambda t_env: StreamTableEnvironment.create(None),  # type: ignore[arg-type]
        lambda t_env: t_env.to_data_stream(None),
        lambda t_env: t_env.from_data_stream([1, 2]),
        lambda t_env: t_env.from_data_stream(t_env._environment.from_collection([1], Types.INT()), "a"),
        lambda t_env: t_env.from_data_stream(t_env._environment.from_collection([1], Types.BIG_INT())),
    ],
)
def test_wrong_arguments(t_env: StreamTableEnvironment, call: Any) -> None:
    with pytest.raises(ProgramError) as caught:
        call(t_env)
    assert __file__ in str(caught.value) and caught.value.hint
