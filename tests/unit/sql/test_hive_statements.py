"""Statements of Hive's dialect: what they do, where the dialect changes, variables, and errors with their place."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.unit.table.hive_tables import hive_environment
from wiesel.core.errors import ProgramError, SqlParseError
from wiesel.platform.cli._sql_check import problems_of
from wiesel.platform.cli.sql_session import SqlSession
from wiesel.platform.sql_client.typed import is_complete
from wiesel.sql.language import statements as s
from wiesel.sql.language.formatting import format_script
from wiesel.sql.language.hive.types import parse_hive_type
from wiesel.sql.language.parser import check_script, parse_script, parse_statement
from wiesel.table import SqlDialect, TableEnvironment
from wiesel.table.udf import udf

HIVE = {"table.sql-dialect": "hive"}


@pytest.fixture
def hive(tmp_path: Path) -> TableEnvironment:
    """Return an environment with tables of files and those of the recorded queries."""
    t_env = hive_environment()
    run(t_env, f"SET hive.metastore.warehouse.dir = {tmp_path}")
    run(t_env, "SET table.dml-sync=true")
    return t_env


def run(t_env: TableEnvironment, sql: str) -> list[tuple[Any, ...]]:
    with t_env.execute_sql(sql).collect() as rows:
        return sorted((tuple(row) for row in rows), key=str)


# Tables and inserts


def test_values_are_converted_to_the_types_of_the_table(hive: TableEnvironment) -> None:
    run(
        hive,
        "CREATE TABLE Target (Name string, n int, amount decimal(6,2)) ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' STORED AS TEXTFILE",
    )
    run(hive, "INSERT INTO TABLE target SELECT name, salary, '12.345' FROM emp WHERE id < 3")
    assert [(name, n, str(amount)) for name, n, amount in run(hive, "SELECT * FROM TARGET")] == [
        ("Ann", 100, "12.35"),
        ("Bob", 80, "12.35"),
    ]
    run(hive, "INSERT OVERWRITE TABLE target VALUES ('a', '7', 1), ('b', 'x', NULL)")
    assert run(hive, "SELECT name, n FROM target") == [("a", 7), ("b", None)]
    run(hive, "INSERT INTO target (N, NAME) SELECT 5, 'c'")
    assert run(hive, "SELECT name, n, amount FROM target WHERE n = 5") == [("c", 5, None)]


def test_partitions_are_fixed_or_come_last(hive: TableEnvironment, tmp_path: Path) -> None:
    run(hive, "CREATE TABLE IF NOT EXISTS parts (id int) PARTITIONED BY (ds string) STORED AS PARQUET")
    run(hive, "INSERT INTO parts PARTITION (ds='2020') SELECT id FROM emp WHERE id < 3")
    run(hive, "INSERT OVERWRITE TABLE parts PARTITION (ds) SELECT id, hired FROM emp WHERE id = 3")
    assert run(hive, "SELECT * FROM parts") == [(1, "2020"), (2, "2020"), (3, "2019-07-31")]
    assert sorted(path.name for path in (tmp_path / "parts").iterdir() if path.is_dir()) == ["ds=2019-07-31", "ds=2020"]


def test_several_inserts_read_one_table(hive: TableEnvironment) -> None:
    for name in ("low", "high"):
        run(hive, f"CREATE TABLE {name} (id bigint, x int) STORED AS JSONFILE")
    run(
        hive,
        "FROM (SELECT id, arr FROM nest) n LATERAL VIEW explode(arr) e AS x "
        "INSERT INTO TABLE low SELECT n.id, x WHERE x < 3 INSERT OVERWRITE TABLE high SELECT id, x WHERE x >= 3",
    )
    assert (run(hive, "SELECT * FROM low"), run(hive, "SELECT * FROM high")) == ([(1, 1), (1, 2)], [(1, 3), (3, 9)])
    run(hive, "WITH q AS (SELECT 7 AS id, 0 AS x) FROM q INSERT INTO low SELECT id, x")
    assert run(hive, "SELECT * FROM low WHERE id = 7") == [(7, 0)]


@pytest.mark.parametrize(
    ("clauses", "options"),
    [
        ("STORED AS PARQUET", {"format": "parquet"}),
        ("STORED AS ORC TBLPROPERTIES ('transactional'='false')", {"format": "orc"}),
        ("STORED AS AVRO", {"format": "avro"}),
        ("ROW FORMAT SERDE 'org.apache.hive.hcatalog.data.JsonSerDe'", {"format": "json"}),
        ("", {"format": "csv", "csv.field-delimiter": "\x01", "csv.null-literal": "\\N", "csv.disable-quote-character": "true"}),
        (
            "ROW FORMAT DELIMITED FIELDS TERMINATED BY '\\t' COLLECTION ITEMS TERMINATED BY ';' NULL DEFINED AS 'nil'",
            {"csv.field-delimiter": "\t", "csv.array-element-delimiter": ";", "csv.null-literal": "nil"},
        ),
        (
            "ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.OpenCSVSerde' WITH SERDEPROPERTIES ('separatorChar'='|')",
            {"csv.field-delimiter": "|", "csv.disable-quote-character": "false"},
        ),
        ("CLUSTERED BY (a) SORTED BY (a DESC) INTO 4 BUCKETS STORED AS ORC", {"format": "orc"}),
    ],
)
def test_clauses_of_files_become_options(clauses: str, options: dict[str, str]) -> None:
    statement = parse_statement(f"CREATE EXTERNAL TABLE t (a int) {clauses} LOCATION '/data/t'".replace("TBLPROP", "TBLPROP"), HIVE)
    if "TBLPROPERTIES" in clauses:
        statement = parse_statement(f"CREATE TABLE t (a int) STORED AS ORC LOCATION '/data/t' {clauses.partition('ORC ')[2]}", HIVE)
    assert isinstance(statement, s.CreateTable)
    assert {"connector": "filesystem", "path": "/data/t", **options}.items() <= statement.options.items()


def test_properties_with_a_connector_are_its_options() -> None:
    statement = parse_statement("CREATE TABLE t (a int) TBLPROPERTIES ('connector' = 'datagen', 'number-of-rows' = '3')", HIVE)
    assert isinstance(statement, s.CreateTable)
    assert statement.options == {"connector": "datagen", "number-of-rows": "3"}


def test_the_path_of_a_table_without_location_is_in_the_warehouse() -> None:
    options = {**HIVE, "hive.metastore.warehouse.dir": "/wh/", "$database": "default_database"}
    paths = [parse_statement(f"CREATE TABLE {name} (a int)", options).options["path"] for name in ("T", "db1.t")]  # type: ignore[attr-defined]
    assert paths == ["/wh/t", "/wh/db1.db/t"]


def test_a_table_is_made_of_a_query_and_like_another(hive: TableEnvironment) -> None:
    run(hive, "CREATE TABLE counts STORED AS ORC AS SELECT dept, count(*) c FROM emp GROUP BY dept")
    assert run(hive, "SELECT dept, C FROM counts WHERE dept = 'dev'") == [("dev", 2)]
    run(hive, "CREATE TABLE again LIKE Counts")
    assert run(hive, "DESCRIBE again") == run(hive, "DESCRIBE counts")


def test_a_view_keeps_its_dialect(hive: TableEnvironment) -> None:
    run(hive, "SET hivevar:who = Ann")
    run(hive, 'CREATE VIEW half (A, b) AS SELECT Name, salary / 2 FROM EMP WHERE name == "${hivevar:who}"')
    run(hive, "SET hivevar:who = Bob")
    assert run(hive, "SELECT * FROM Half") == [("Ann", 50.25)]
    hive.get_config().set_sql_dialect(SqlDialect.DEFAULT)
    assert run(hive, "SELECT a, b FROM half") == [("Ann", 50.25)]
    run(hive, "ALTER VIEW half AS SELECT 1 AS a")
    assert run(hive, "SELECT * FROM half") == [(1,)]


def test_statements_about_objects(hive: TableEnvironment) -> None:
    run(hive, "CREATE SCHEMA IF NOT EXISTS db1 COMMENT 'one' WITH DBPROPERTIES ('k' = 'v')")
    assert run(hive, "SHOW SCHEMAS") == [("db1",), ("default_database",)]
    run(hive, "USE db1")
    run(
        hive, "CREATE TABLE Things (a int COMMENT 'number', b map<string, array<struct<x: int, y: string>>>) COMMENT 'c' STORED AS JSONFILE"
    )
    assert run(hive, "SHOW TABLES LIKE 'th*'") == [("things",)]
    assert [row[:2] for row in run(hive, "DESCRIBE THINGS")] == [("a", "INT"), ("b", "MAP<STRING, ARRAY<ROW<`x` INT, `y` STRING>>>")]
    assert "db1.db/things" in run(hive, "SHOW CREATE TABLE Things")[0][0]
    run(hive, "ALTER TABLE Things RENAME TO stuff")
    run(hive, "ALTER TABLE STUFF ADD COLUMNS (c double)")
    run(hive, "ALTER TABLE stuff SET TBLPROPERTIES ('json.ignore-parse-errors' = 'true')")
    assert [row[0] for row in run(hive, "DESC FORMATTED stuff")] == ["a", "b", "c"]
    run(hive, "DROP TABLE IF EXISTS Stuff PURGE")
    run(hive, "USE default_database")
    run(hive, "DROP SCHEMA db1 CASCADE")
    assert run(hive, "SHOW DATABASES") == [("default_database",)]


def test_explain_shows_the_plan(hive: TableEnvironment) -> None:
    assert "Optimized Execution Plan" in run(hive, "EXPLAIN EXTENDED SELECT count(*) FROM emp")[0][0]


# Names and functions


def test_names_are_told_apart_without_regard_to_case() -> None:
    t_env = hive_environment()
    t_env.get_config().set_sql_dialect(SqlDialect.DEFAULT)
    t_env.execute_sql("CREATE TEMPORARY VIEW `Mixed` AS SELECT 1 AS `UserId`, CAST(ROW(2) AS ROW<`InnerField` INT>) AS `Part`")
    t_env.get_config().set_sql_dialect(SqlDialect.HIVE)
    table = t_env.sql_query("SELECT m.USERID, part.innerfield, M.part FROM mixed m WHERE userId = 1")
    assert table.get_schema().get_field_names() == ["userid", "innerfield", "part"]
    assert run(t_env, "WITH Q AS (SELECT USERID x FROM MIXED) SELECT q.X FROM q") == [(1,)]


def test_columns_without_names_are_called_by_their_places() -> None:
    names = hive_environment().sql_query("SELECT 1, name, upper(name), count(*) OVER (ORDER BY id), salary AS S FROM emp").get_schema()
    assert names.get_field_names() == ["_c0", "name", "_c2", "_c3", "s"]


def test_functions_of_users_come_first() -> None:
    t_env = hive_environment()
    t_env.create_temporary_system_function("length", udf(lambda text: -1, result_type="INT"))
    t_env.create_temporary_system_function("twice", udf(lambda number: number * 2, result_type="BIGINT", input_types=["BIGINT"]))
    assert run(t_env, "SELECT length('abc'), Twice(CAST(id AS bigint)) FROM emp WHERE id = 2") == [(-1, 4)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("int", "INT"),
        ("decimal", "DECIMAL(10, 0)"),
        ("DECIMAL(7)", "DECIMAL(7, 0)"),
        ("numeric(7,2)", "DECIMAL(7, 2)"),
        ("double precision", "DOUBLE"),
        ("varchar(3)", "VARCHAR(3)"),
        ("char(2)", "CHAR(2)"),
        ("binary", "BYTES"),
        ("timestamp", "TIMESTAMP(6)"),
        ("timestamp with local time zone", "TIMESTAMP_LTZ(6)"),
        ("array<array<int>>", "ARRAY<ARRAY<INT>>"),
        ("struct<a:int, `B c`:map<string,double> comment 'x'>", None),
        ("struct<a:int,B:map<string,double>>", "ROW<`a` INT, `b` MAP<STRING, DOUBLE>>"),
        ("uniontype<int,string>", None),
        ("int(3)", None),
        ("array<int", None),
        ("foo", None),
    ],
)
def test_types_of_hive(text: str, wanted: str | None) -> None:
    if wanted is None:
        with pytest.raises(ProgramError):
            parse_hive_type(text)
    else:
        assert parse_hive_type(text).as_summary_string() == wanted


# The dialect and variables


@pytest.mark.parametrize("switch", ["SET table.sql-dialect = hive;", "SET 'table.sql-dialect' = 'hive';", "set table.sql-dialect=HIVE ;"])
def test_the_dialect_changes_within_a_script(switch: str) -> None:
    in_hive = "SELECT 'it\\'s; a' == \"b\";"
    script = f"SELECT 1;\n-- a comment; with a semicolon\n{switch}\n{in_hive}\nSET 'table.sql-dialect' = 'default';\nSELECT 'a\\';"
    found = parse_script(script)
    assert [type(each).__name__ for each in found] == ["Query", "Set", "Query", "Set", "Query"]
    assert [script[each.span.start :].split()[0].upper() for each in found] == ["SELECT", "SET", "SELECT", "SET", "SELECT"]


def test_what_looks_like_a_switch_is_none_within_texts_and_comments() -> None:
    found = parse_script("SELECT '; SET table.sql-dialect = hive;' AS a;\n/* SET table.sql-dialect = hive; */ SELECT `a` FROM t;")
    assert len(found) == 2


def test_errors_of_several_statements_are_found() -> None:
    found, errors = check_script("SELECT 1;\nSELECT FROM;\nSELECT 2;\nSELEC 3", HIVE)
    assert (len(found), [(error.details["line"], error.details["column"]) for error in errors]) == (2, [(2, 8), (4, 1)])


def test_variables_stand_for_names_texts_and_parts_of_them() -> None:
    t_env = hive_environment()
    run(t_env, "SET hivevar:tab = emp")
    run(t_env, "SET limit.id = 2")
    assert run(t_env, "SELECT name AS n_${hivevar:tab}, '${hivevar:tab}!' FROM ${tab} WHERE id <= ${hiveconf:limit.id}") == [
        ("Ann", "emp!"),
        ("Bob", "emp!"),
    ]
    run(t_env, "SET hiveconf:x = ${hivevar:tab}")
    assert run(t_env, "SELECT '${hiveconf:x}'") == [("emp",)]


def test_variables_of_a_script_are_those_set_before() -> None:
    found = parse_script("SET hivevar:a = 1; SELECT ${hivevar:a}; SET hivevar:a = 2; SELECT ${hivevar:a}", HIVE)
    queries = [each for each in found if isinstance(each, s.Query)]
    assert [repr(query.tree).count("this=1") + 2 * repr(query.tree).count("this=2") for query in queries] == [1, 2]


def test_one_option_is_shown() -> None:
    t_env = hive_environment()
    run(t_env, "SET hivevar:x = 5")
    assert (run(t_env, "SET hivevar:x"), run(t_env, "SET hivevar:y")) == ([("hivevar:x", "5")], [])


def test_a_dialect_that_there_is_not_is_refused() -> None:
    t_env = hive_environment()
    with pytest.raises(ProgramError, match="no dialect 'oracle'"):
        run(t_env, "SET table.sql-dialect = oracle")
    with pytest.raises(ProgramError, match="no dialect 7"):
        t_env.get_config().set_sql_dialect(7)
    assert t_env.get_config().get_sql_dialect() == SqlDialect.HIVE
    run(t_env, "SET table.sql-dialect = default")
    assert t_env.get_config().get_sql_dialect() == SqlDialect.DEFAULT


# Errors


@pytest.mark.parametrize(
    ("sql", "line", "column", "message", "advice"),
    [
        ("SELECT nme\nFROM emp", 1, 8, "column `nme` was not found", "did you mean `name`"),
        ("SELECT name,\n  foo(1)\nFROM emp", 2, 3, "there is no function 'FOO'", "FLOOR"),
        ("SELECT *\nFROM\n  epm", 3, 3, "table `epm` was not found", "`emp`"),
        ("SELECT name FROM emp WHERE", 1, 22, "a value behind WHERE expected", ""),
        ("SELECT name, FROM emp", 1, 12, "nothing that belongs there stands behind the comma", "comma"),
        ("SELECT 'abc", 1, 8, "has no end", "write ' behind it"),
        ("SELEC 1", 1, 1, "a statement of Hive expected, found 'SELEC'", "did you mean SELECT"),
        ("SELECT id + arr FROM nest", 1, 8, "ARRAY<INT> cannot become DOUBLE", "value of another type"),
        ("SELECT cast(1 AS foo)", 1, 18, "'foo' is no data type of Hive", "STRUCT<name: t, ...>"),
        ("SELECT TRANSFORM(name) USING 'cat' AS (x) FROM emp", 1, 18, "TRANSFORM ... USING is not supported", "table function in Python"),
        ("SELECT name FROM emp TABLESAMPLE(10 PERCENT) e", 1, 18, "TABLESAMPLE is not supported", "rand()"),
        ("SELECT name FROM emp LATERAL VIEW upper(name) e AS x", 1, 35, "upper is no table function", "udtf"),
        ("LOAD DATA INPATH 'x' INTO TABLE y", 1, 1, "LOAD DATA of Hive is not supported", "LOCATION"),
        ("MERGE INTO t USING s ON t.a = s.a", 1, 1, "MERGE of Hive is not supported", "primary key"),
        ("INSERT OVERWRITE DIRECTORY '/x' SELECT 1", 1, 18, "INSERT OVERWRITE DIRECTORY is not supported", "INSERT OVERWRITE TABLE"),
        ("INSERT INTO nope SELECT 1", 1, 13, "table `nope` was not found", ""),
        ("CREATE TABLE q (a int) STORED AS RCFILE", 1, 34, "STORED AS RCFILE is not supported", "PARQUET"),
        ("CREATE TABLE q (a int)\nROW FORMAT SERDE 'x.RegexSerDe'", 2, 18, "the SerDe RegexSerDe is not supported", "JsonSerDe"),
        ("CREATE TABLE q (a int) STORED AS PARQUET", 1, 22, "the table has no LOCATION", "hive.metastore.warehouse.dir"),
        ("CREATE TABLE q (a int) STORE AS PARQUET", 1, 24, "a clause of CREATE TABLE, such as STORED AS expected", "STORED"),
        ("SELECT ${nope}", 1, 8, "the variable nope is not set", "SET nope"),
        ("SELECT name FROM emp GROUP BY dept", 1, 8, "column `name` is neither in GROUP BY", "GROUP BY"),
        ("SELECT hour() FROM emp", 1, 8, "hour() takes 1 argument, these are 0", "as many as"),
        ("SELECT nvl(id) FROM emp", 1, 8, "nvl() takes 2 arguments, these are 1", "as many as"),
        ("SELECT concat() FROM emp", 1, 8, "concat() takes at least 1 argument, these are 0", "as many as"),
        ("SELECT extract(CAST FROM hired) FROM emp", 1, 26, "CAST is no part of a time", "YEAR"),
        ("SELECT name FROM emp WHERE id IN ()", 1, 28, "there is nothing behind IN", "values or a query"),
        ("SELECT upper(name) AS (a, b) FROM emp", 1, 8, "only table functions return several columns", "name one"),
        ("SELECT 1 FROM emp a JOIN emp a ON a.id = a.id", 1, 26, "there are two tables `a`", "another name"),
    ],
)
def test_errors_tell_their_place_in_the_text(sql: str, line: int, column: int, message: str, advice: str) -> None:
    with pytest.raises(SqlParseError, match=re.escape(message)) as caught:
        hive_environment().execute_sql(sql)
    assert (caught.value.details["line"], caught.value.details["column"]) == (line, column)
    assert advice in (caught.value.hint or "")
    assert "^" in str(caught.value)


# Beyond what the recorded version reads: it has no Calcite, and another grammar of joins


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("SELECT dept FROM emp INTERSECT SELECT dept FROM dept", [("dev",), ("ops",)]),
        ("SELECT dept FROM emp EXCEPT SELECT dept FROM dept", [("hr",), (None,)]),
        ("SELECT dept FROM emp MINUS SELECT dept FROM dept", [("hr",), (None,)]),
        (
            "SELECT n.id, d.title, x FROM nest n JOIN dept d ON n.id = d.lvl LATERAL VIEW explode(n.tags) e AS x",
            [(1, "Operations", "a"), (1, "Operations", "b"), (2, "Development", "c")],
        ),
        ("SELECT id, x, title FROM nest LATERAL VIEW explode(arr) e AS x JOIN dept ON dept.lvl = e.x", None),
        ("SELECT count(*) FROM emp HAVING count(*) > 3", [(6,)]),
        ("SELECT /*+ MAPJOIN(d) */ e.name FROM emp e JOIN dept d ON e.dept = d.dept WHERE d.lvl = 1", [("Cy",), ("Di",)]),
    ],
)
def test_further_queries(query: str, rows: list[tuple[Any, ...]] | None) -> None:
    wanted = [(1, 1, "Operations"), (1, 2, "Development")] if rows is None else rows
    assert run(hive_environment(), query) == wanted


# The command and the client


def test_a_file_of_the_command_changes_the_dialect() -> None:
    lines: list[str] = []
    session = SqlSession(hive_environment(), lines.append)
    session.run("SELECT 7 DIV 2 AS h;\nSET table.sql-dialect = default;\nSELECT 7 / 2 AS f;\nSET 'table.sql-dialect' = 'hive';")
    session.run("SET hivevar:x = \"it's\";\nSELECT '${hivevar:x}' == 'it\\'s' AS same;")
    text = "\n".join(lines)
    assert re.findall(r"\|\s+(3|true|TRUE)\s+\|", text) == ["3", "3", "TRUE"]


def test_the_client_waits_for_the_end_of_a_statement_of_hive() -> None:
    assert not is_complete("SELECT 'it\\'s;", hive=True)
    assert is_complete("SELECT 'it\\'s;';", hive=True)
    assert not is_complete("SELECT \"a;", hive=True)


def test_checking_and_laying_out_know_the_dialect() -> None:
    script = "SET table.sql-dialect = hive;\nSELECT id == '1' FROM (SELECT 1 AS id) t;\nSELECT nope FROM (SELECT 1 AS id) t;"
    count, problems = problems_of(script)
    assert (count, [problem.details["line"] for problem in problems]) == (3, [3])
    with pytest.raises(SqlParseError, match="statements of Hive's dialect are not laid out"):
        format_script(script)
