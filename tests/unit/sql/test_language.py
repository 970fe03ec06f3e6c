"""The language: which statements are read, against real Flink (``tests/differential/record_sql_statements.py``); what is read; errors."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from sqlglot import exp

from wiesel.core.errors import SqlParseError
from wiesel.sql.language import nodes
from wiesel.sql.language import statements as s
from wiesel.sql.language.cursor import Cursor
from wiesel.sql.language.parser import check_script, parse_script, parse_statement
from wiesel.table import DataTypes

GOLDENS = json.loads((Path(__file__).parents[2] / "differential/goldens/sql_statements.json").read_text())

# Read here and not by Flink: nothing that Flink runs has another meaning by it.
BEYOND = {
    "SELECT a = b, a <> b, a != b, a < b, a <= b, a > b, a >= b FROM t": "!= is the same as <>",
    "SELECT a FROM ONLY t": "words that Flink reserves are names where nothing else can be meant",
}
# Read by Flink, which then refuses them.
REFUSED_AT_ONCE = {
    "SELECT a FROM t PIVOT (SUM(x) FOR y IN (1))": "PIVOT is not part of Flink's SQL",
    "CREATE TABLE t (a INT PRIMARY KEY)": "NOT ENFORCED expected behind a primary key",
    "CREATE TEMPORARY CATALOG c WITH ('a' = 'b')": "TABLE or VIEW or FUNCTION or MODEL expected, found 'CATALOG'",
}


def read(sql: str) -> Any:
    return parse_statement(sql)


def query(sql: str) -> exp.Expr:
    return read(sql).tree


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda golden: golden["sql"][:60])
def test_what_flink_reads_is_read(golden: dict[str, Any]) -> None:
    sql = golden["sql"]
    errors = check_script(sql)[1]
    if sql in REFUSED_AT_ONCE:
        assert golden["reads"] and REFUSED_AT_ONCE[sql] in errors[0].message
    else:
        assert (not errors) == (golden["reads"] or sql in BEYOND)


def test_the_differences_are_those_written_down() -> None:
    here = {golden["sql"]: not check_script(golden["sql"])[1] for golden in GOLDENS}
    different = {golden["sql"] for golden in GOLDENS if here[golden["sql"]] != golden["reads"]}
    assert different == BEYOND.keys() | REFUSED_AT_ONCE.keys()
    assert len(GOLDENS) > 340


def test_comments_and_lines_between_the_words_change_nothing() -> None:
    for golden in GOLDENS:
        sql = golden["sql"]
        if not golden["reads"] or sql in REFUSED_AT_ONCE or "/*" in sql or "--" in sql:
            continue
        words = [sql[token.start : token.end + 1] for token in Cursor(sql).tokens]
        spread = "-- begin\n" + "\n  /* between */ ".join(words) + " -- end"
        # What is kept as text keeps its lines.
        assert _without_texts(parse_script(spread)) == _without_texts(parse_script(sql)), sql


def _without_texts(statements: list[s.Statement]) -> list[Any]:
    return [[value for name, value in vars(one).items() if name not in ("span", "target_span", "query_text")] for one in statements]


def test_a_script_is_split_at_its_semicolons_and_each_statement_knows_its_place() -> None:
    script = "SELECT ';' AS a;\n\n;; -- ; not here\nINSERT INTO t SELECT 1 ;\nEXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; END;"
    found = parse_script(script)
    assert [script[one.span.start : one.span.end] for one in found] == [
        "SELECT ';' AS a",
        "INSERT INTO t SELECT 1",
        "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; END",
    ]
    assert parse_script(" ;; -- nothing") == []


def test_the_elements_of_a_table() -> None:
    made = read(
        "CREATE TEMPORARY TABLE IF NOT EXISTS c.d.t (`a b` ROW<x INT NOT NULL> NOT NULL COMMENT 'it''s', p DECIMAL(10, 2), k AS p + 1,"
        " o BIGINT METADATA FROM 'offset' VIRTUAL, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,"
        " CONSTRAINT pk PRIMARY KEY (p, q) NOT ENFORCED) COMMENT 'x' PARTITIONED BY (p) WITH ('a.b' = 'c', 'd' = '')"
    )
    assert (made.path, made.is_temporary, made.if_not_exists, made.comment) == (("c", "d", "t"), True, True, "x")
    assert (made.partition_keys, made.options) == (("p",), {"a.b": "c", "d": ""})
    row = DataTypes.ROW([DataTypes.FIELD("x", DataTypes.INT(False))]).not_null()
    stored, price, computed, offset = made.elements.columns
    assert stored == s.PhysicalColumnDefinition("a b", row, "it's")
    assert price == s.PhysicalColumnDefinition("p", DataTypes.DECIMAL(10, 2))
    assert (computed.name, computed.expression) == ("k", exp.Add(this=exp.column("p"), expression=exp.Literal.number(1)))
    assert offset == s.MetadataColumnDefinition("o", DataTypes.BIGINT(), "offset", True)
    assert made.elements.primary_key == s.PrimaryKeyDefinition(("p", "q"), "pk")
    assert made.elements.watermark.column == ("ts",)
    assert isinstance(made.elements.watermark.expression, exp.Sub)


def test_a_table_like_another_and_one_made_of_a_query() -> None:
    made = read("CREATE TABLE t WITH ('a' = 'b') LIKE c.u (EXCLUDING ALL INCLUDING WATERMARKS)")
    assert made.like == s.LikeClause(("c", "u"), (("EXCLUDING", "ALL"), ("INCLUDING", "WATERMARKS")))
    made = read("CREATE OR REPLACE TABLE t (b, a) DISTRIBUTED BY HASH(a) INTO 4 BUCKETS AS SELECT a, b FROM u")
    assert (made.replaces, made.columns) == ("OR REPLACE", ("b", "a"))
    assert made.distribution == s.Distribution("HASH", ("a",), 4)
    assert isinstance(made.query, exp.Select)


def test_changes_of_a_table() -> None:
    added = read("ALTER TABLE t ADD (c INT AFTER a, d STRING FIRST)").change
    assert added.positions == {"c": s.ColumnPosition("a"), "d": s.ColumnPosition(None)}
    assert [column.name for column in added.elements.columns] == ["c", "d"]
    assert read("ALTER TABLE IF EXISTS t RENAME r.a TO b") == s.AlterTable(s.Span(0, 0), ("t",), s.RenameColumn(("r", "a"), "b"), True)
    assert read("ALTER TABLE t DROP (a, r.b)").change == s.DropParts(columns=(("a",), ("r", "b")))
    dropped = read("ALTER TABLE t DROP PARTITION (p = 1), PARTITION (p = 'x')").change
    assert [[(name, value.this) for name, value in spec] for spec, _ in dropped.partitions] == [[("p", "1")], [("p", "x")]]


def test_inserts_with_columns_partition_and_hints() -> None:
    made = read("INSERT OVERWRITE c.t /*+ OPTIONS('sink.parallelism' = '2') */ PARTITION (d = '2020') (a, b) SELECT 1, 2")
    assert (made.target, made.columns, made.overwrite) == (("c", "t"), ("a", "b"), True)
    assert [(name, value.this) for name, value in made.partition] == [("d", "2020")]
    assert [(hint.name, hint.arguments) for hint in made.hints] == [("OPTIONS", (("sink.parallelism", "2"),))]


def test_functions_stay_what_was_written() -> None:
    select = query("SELECT IFNULL(a, 1), DATE_FORMAT(b, 'yyyy'), LOG(2, c), NVL(a, b), my_f(1) FROM t")
    assert [(part.name, len(part.expressions)) for part in select.expressions] == [
        ("IFNULL", 2), ("DATE_FORMAT", 2), ("LOG", 2), ("NVL", 2), ("my_f", 1)
    ]  # fmt: skip
    assert all(isinstance(part, exp.Anonymous) for part in select.expressions)


def test_types_in_casts_are_flinks() -> None:
    cast = query("SELECT TRY_CAST(a AS MAP<STRING, ARRAY<DECIMAL(10, 2) NOT NULL>>)").expressions[0]
    expected = DataTypes.MAP(DataTypes.STRING(), DataTypes.ARRAY(DataTypes.DECIMAL(10, 2, False)))
    assert isinstance(cast, exp.TryCast) and cast.args["to"].data_type == expected


def test_words_between_arguments() -> None:
    call = query("SELECT JSON_VALUE(a, 'lax $.b' RETURNING DECIMAL(4, 1) NULL ON EMPTY DEFAULT 1 + 1 ON ERROR)").expressions[0]
    assert (call.name, len(call.expressions), call.args["words"]) == ("JSON_VALUE", 2, ["NULL ON EMPTY", "DEFAULT", "ON ERROR"])
    assert call.args["returning"].data_type == DataTypes.DECIMAL(4, 1)
    made = query("SELECT JSON_OBJECT(KEY 'a' VALUE 1, 'b' VALUE JSON_ARRAY(2, c) ABSENT ON NULL)").expressions[0]
    assert ([type(part).__name__ for part in made.expressions], made.args["words"]) == (
        ["Literal", "Literal", "Literal", "Call"],
        ["ABSENT ON NULL"],
    )


def test_arguments_of_table_functions() -> None:
    arguments = "DATA => TABLE c.t PARTITION BY (a, b), TIMECOL => DESCRIPTOR(ts), GAP => INTERVAL '1' HOUR"
    table = query(f"SELECT * FROM TABLE(SESSION({arguments}))")
    assert table == query(f"SELECT * FROM SESSION({arguments})")
    call = table.find(exp.Anonymous)
    assert call is not None and call.name == "SESSION"
    data, time, _ = call.expressions
    assert [part.name for part in call.expressions] == ["DATA", "TIMECOL", "GAP"]
    assert isinstance(data.expression, nodes.TableArgument)
    assert [column.name for column in data.expression.args["partition_by"]] == ["a", "b"]
    assert [column.name for column in time.expression.expressions] == ["ts"]


def test_hints_of_queries_and_tables() -> None:
    select = query("SELECT /*+ BROADCAST(t1), STATE_TTL('a' = '1d', 'b' = '2h') */ * FROM t /*+ OPTIONS('k' = 'v') */ AS a")
    hints = select.args["hint"].expressions
    assert [(hint.name, hint.arguments) for hint in hints] == [("BROADCAST", ("t1",)), ("STATE_TTL", (("a", "1d"), ("b", "2h")))]
    table = select.find(exp.Table)
    assert table is not None and table.alias == "a" and table.args["hints"][0].arguments == (("k", "v"),)


def test_a_pattern_of_rows() -> None:
    tree = query(
        "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY a ORDER BY ts MEASURES FINAL LAST(B.y) AS y ALL ROWS PER MATCH"
        " AFTER MATCH SKIP TO LAST B PATTERN (A B+? (C | D){2,} E{,3}) WITHIN INTERVAL '1' HOUR SUBSET U = (A, B) DEFINE B AS B.x > 1) AS m"
    )
    match = tree.find(nodes.MatchRecognize)
    assert match is not None
    assert (match.args["rows"], match.args["after"], match.args["skip_to"].name) == ("ALL ROWS PER MATCH", "SKIP TO LAST", "B")
    first, second, third, fourth = match.args["pattern"].expressions
    assert first.name == "A"
    assert [part.bounds for part in (second, third, fourth)] == [(1, None, True), (2, None, False), (0, 3, False)]
    assert [part.name for part in third.this.expressions] == ["C", "D"]
    assert match.args["measures"][0].meta["semantics"] == "FINAL"
    assert [(one.alias, [part.name for part in one.this.expressions]) for one in match.args["subsets"]] == [("U", ["A", "B"])]
    assert [one.alias for one in match.args["define"]] == ["B"] and match.alias == "m"


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELCT 1", "line 1, column 1: a statement expected, found 'SELCT'\n  SELCT 1\n  ^^^^^\n  what to do: did you mean SELECT?"),
        ("SELECT 1;\n\n  CREATE TABEL t (a INT)", "line 3, column 10: TABLE or VIEW or FUNCTION or CATALOG or DATABASE or MODEL expected"),
        (
            "CREATE TABLE t (\n  a INT,\n  b NUMBR(3)\n)",
            "line 3, column 5: there is no type NUMBR\n    b NUMBR(3)\n      ^^^^^^^^\n  what to do: did you mean NUMERIC?",
        ),
        ("CREATE TABLE t (a INT PRIMARY KEY)", "write PRIMARY KEY (...) NOT ENFORCED: the connector sees to it, nothing checks it"),
        ("SELECT a,, b FROM t", "line 1, column 9: nothing that belongs there stands behind the comma\n  SELECT a,, b FROM t\n          ^"),
        ("SELECT CAST(a AS FOO) FROM t", "line 1, column 18: there is no type FOO"),
        ("SELECT * FROM t LEFT SEMI JOIN u ON t.a = u.a", "SEMI JOIN is not part of Flink's SQL"),
        ("SELECT a FROM t FOR UPDATE", "FOR UPDATE is not part of Flink's SQL"),
        ("SELECT a::INT FROM t", "line 1, column 9"),
        ("SELECT 'it''s', --'\n'abc", "line 2, column 1: what begins with ' has no end\n  'abc\n  ^\n  what to do: write ' behind it"),
        ("SELECT 1 /* x", "column 10: what begins with /* has no end\n  SELECT 1 /* x\n           ^^\n  what to do: write */ behind it"),
        ("SELECT 1 +", "line 1, column 10: a value behind '+' expected, found the end\n"),
        ("SELECT 1 FROM t WHERE GROUP BY a", "line 1, column 23: a value behind WHERE expected, found 'GROUP BY'\n"),
        ("SELECT a FROM", "line 1, column 10: a table behind FROM expected, found the end\n"),
        ("SELECT COUNT(a FROM t", "line 1, column 16: ')' expected, found 'FROM'\n"),
        ("SELECT a b c FROM t", "line 1, column 12: 'c' is not expected here\n"),
        ("SHOW TABLE", "did you mean TABLES?"),
        ("SELECT 1 SELECT 2", "line 1, column 10"),
        ("CREATE TABLE t (a, b)", "AS and a query, from which columns without types get theirs, expected, found the end"),
    ],
)
def test_errors_show_the_place_and_what_to_do(sql: str, message: str) -> None:
    with pytest.raises(SqlParseError, match=re.escape(message)):
        parse_script(sql)


def test_an_error_in_a_long_line_shows_the_part_around_it() -> None:
    with pytest.raises(SqlParseError) as caught:
        parse_script("SELECT " + ", ".join(f"column_{i}" for i in range(200)) + ", , b FROM t")
    line, marks = caught.value.message.splitlines()[1:]
    assert len(line) < 150 and line[marks.index("^")] == ","
    assert caught.value.details["line"] == 1


def test_one_statement_is_one() -> None:
    assert isinstance(parse_statement(" SELECT 1 ; "), s.Query)
    with pytest.raises(SqlParseError, match="one statement expected, found another one"):
        parse_statement("SELECT 1; SELECT 2")
    with pytest.raises(SqlParseError, match="a statement expected, found the end"):
        parse_statement(" -- nothing")


def test_all_wrong_statements_of_a_script_are_told() -> None:
    statements, errors = check_script("SELECT 1;\nSELCT 2;\nSELECT 3;\nSELECT FROM t;\nSELECT 4")
    assert len(statements) == 3
    assert [error.details["line"] for error in errors] == [2, 4]
