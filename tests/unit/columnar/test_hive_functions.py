"""Functions of Hive have the values that its manual tells, and those of Spark SQL (``record_hive_functions.py``), which took them over."""

from __future__ import annotations

import getpass
import json
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.evaluation import Frame, Session, as_array, evaluate
from wiesel.columnar.expressions import Expression, InputRef, Literal, transformed
from wiesel.columnar.functions import hive_documents
from wiesel.columnar.functions.registry import call, cast, function_names
from wiesel.core.errors import ExpressionError, ProgramError
from wiesel.sql.binding.expressions import ExpressionBinder
from wiesel.sql.binding.scope import Scope
from wiesel.sql.catalog.modules import HIVE_PREFIX, Modules, hive_functions
from wiesel.sql.language.parser import parse_statement
from wiesel.sql.language.statements import Query
from wiesel.types import logical as t

GOLDEN = json.loads((Path(__file__).parents[2] / "differential" / "goldens" / "hive_functions.json").read_text())
MURMUR = json.loads((Path(__file__).parents[2] / "differential" / "goldens" / "hive_murmur_hash.json").read_text())
MANUAL = {
    "bround(2.5e0)": "2.0",
    "bround(3.5e0)": "4.0",
    "bround(8.25e0, 1)": "8.2",
    "bround(8.35e0, 1)": "8.4",
    "base64('abc')": "YWJj",
    "cbrt(27.0e0)": "3.0",
    "conv('100', 2, 10)": "4",
    "conv('-10', 16, -10)": "-16",
    "crc32('ABC')": "2743272264",
    "date_add('2008-12-31', 1)": "2009-01-01",
    "date_sub('2008-12-31', 1)": "2008-12-30",
    "datediff('2009-03-01', '2009-02-27')": "2",
    "datediff('nothing', '2009-02-27')": None,
    "day('1970-11-01 00:00:00')": "1",
    "factorial(5)": "120",
    "factorial(21)": None,
    "find_in_set('ab', 'abc,b,ab,c,def')": "3",
    "find_in_set('a,b', 'a,b')": "0",
    "format_number(12332.123456e0, 4)": "12,332.1235",
    "isnull(CAST(NULL AS INT))": "true",
    "isnotnull(1)": "true",
    "last_day('2015-03-14')": "2015-03-31",
    "lcase('FACEBOOK')": "facebook",
    "length('äöü')": "3",
    "levenshtein('kitten', 'sitting')": "3",
    "mask('abcd-EFGH-8765-4321')": "xxxx-XXXX-nnnn-nnnn",
    "mask('abcd-EFGH-8765-4321', 'U', 'l', '#')": "llll-UUUU-####-####",
    "negative(2)": "-2",
    "nvl(CAST(NULL AS STRING), 'x')": "x",
    "octet_length('äöü')": "6",
    "pmod(-10, 3)": "2",
    "pmod(7, 0)": None,
    "positive(3)": "3",
    "pow(2.0e0, 3.0e0)": "8.0",
    "rlike('foobar', 'foo')": "true",
    "sha('ABC')": "3c01bdbb26f358bab27f267924aa2c9a03fcfdb8",
    "shiftleft(1, 33)": "2",
    "shiftleft(1, 31)": "-2147483648",
    "shiftright(-4, 1)": "-2",
    "shiftrightunsigned(-4, 1)": "2147483646",
    "soundex('Miller')": "M460",
    "concat('[', space(2), ']')": "[  ]",
    "substring_index('www.apache.org', '.', 2)": "www.apache",
    "substring_index('www.apache.org', '.', -2)": "apache.org",
    "ucase('fOoBaR')": "FOOBAR",
    "weekofyear('1970-11-01 00:00:00')": "44",
    "width_bucket(5.3e0, 0.2e0, 10.6e0, 5)": "3",
    # A last day of a month leads to a last day; Spark keeps the day.
    "add_months('2009-08-31', 1)": "2009-09-30",
    "add_months('2015-02-28', 1)": "2015-03-31",
    "field('world', 'say', 'hello', 'world')": "3",
    "field('x', 'say', 'hello')": "0",
    "field(CAST(NULL AS STRING), 'say')": "0",
    "size(ARRAY[1, 2, 3])": "3",
    "size(CAST(NULL AS ARRAY<INT>))": "-1",
    "array_join(sort_array(ARRAY['b', 'a', 'c']), ',')": "a,b,c",
    "mask_first_n('1234-5678-8765-4321', 4)": "nnnn-5678-8765-4321",
    "mask_last_n('1234-5678-8765-4321', 4)": "1234-5678-8765-nnnn",
    "mask_show_first_n('1234-5678-8765-4321', 4)": "1234-nnnn-nnnn-nnnn",
    "mask_show_last_n('1234-5678-8765-4321', 4)": "nnnn-nnnn-nnnn-4321",
    "next_day('2015-01-14', 'TU')": "2015-01-20",
    "trunc('2015-03-17', 'MM')": "2015-03-01",
    "conv('a', 16, 2)": "1010",
    "months_between('1997-02-28 10:30:00', '1996-10-30')": "3.94959677",
    "to_unix_timestamp('1970-01-02 00:00:00')": "86400",
    "CAST(unbase64('YWJj') AS STRING)": "abc",
    "base64(aes_encrypt('ABC', '1234567890123456'))": "y6Ss+zCYObpCbgfWfyNWTw==",
    "CAST(aes_decrypt(unbase64('y6Ss+zCYObpCbgfWfyNWTw=='), '1234567890123456') AS STRING)": "ABC",
    "aes_encrypt('ABC', 'too short')": None,
    "aes_decrypt(unbase64('YWJj'), '1234567890123456')": None,
    "assert_true(2 > 1)": None,
    "isfalse(1 > 2)": "true",
    "istrue(CAST(NULL AS BOOLEAN))": "false",
    "isnottrue(CAST(NULL AS BOOLEAN))": "true",
    "isnotfalse(CAST(NULL AS BOOLEAN))": "true",
    # The path leads to elements, which have no value; Spark returns NULL for each.
    "CARDINALITY(xpath('<a><b>b1</b><b>b2</b></a>', 'a/*'))": "0",
    # Numbers that Java's String.hashCode() has for the same texts; several values count as Java's lists do.
    "hash('hello')": "99162322",
    "hash('abc')": "96354",
    "hash(42)": "42",
    "hash(4294967296)": "1",
    "hash(TRUE)": "1",
    "hash(1, 2)": "33",
    "hash(CAST(NULL AS INT), 2)": "2",
    "hash(1.0e0)": "1072693248",
    "hash('ä')": "-1983",
    "mask_hash('abc')": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    "floor_hour(TIMESTAMP '2020-05-17 10:20:30')": "2020-05-17 10:00:00",
    "floor_day(TIMESTAMP '2020-05-17 10:20:30')": "2020-05-17 00:00:00",
    # Hive's weeks begin on Mondays (its class UDFDateFloorWeek), Flink's on Sundays.
    "floor_week(TIMESTAMP '2020-05-17 10:20:30')": "2020-05-11 00:00:00",
    "floor_week(TIMESTAMP '2020-05-18 10:20:30')": "2020-05-18 00:00:00",
    "floor_week(TIMESTAMP '1969-12-31 10:20:30')": "1969-12-29 00:00:00",
    "floor_quarter(TIMESTAMP '2020-05-17 10:20:30')": "2020-04-01 00:00:00",
    "named_struct('a', 1, 'b', 'x').b": "x",
    "struct(1, 'x').col2": "x",
}
"""What Hive's manual says of its functions, or follows from what it says."""


def bound(expression: str) -> Expression:
    """Return an expression as queries have it where the module is loaded."""
    modules = Modules()
    modules.load("hive", {})
    sql = f"SELECT {expression} AS x"
    statement = parse_statement(sql)
    assert isinstance(statement, Query)
    return ExpressionBinder(sql, Scope([]), modules.functions()).bind(statement.tree.expressions[0].this)


def told(expression: Expression, rows: pa.RecordBatch) -> list[str | None]:
    """Return the values as Spark tells them."""
    is_truth = isinstance(expression.data_type, t.BooleanType)
    column = as_array(evaluate(cast(expression, t.VarCharType(t.MAX_LENGTH)), Frame(rows, Session("UTC"))), rows.num_rows)
    return [None if value is None else value.lower() if is_truth else value for value in column.to_pylist()]


ONE = pa.RecordBatch.from_pydict({"": pa.nulls(1)})


@pytest.mark.parametrize("expression", {**GOLDEN, **MANUAL, **MURMUR})
def test_values_are_those_of_hive(expression: str) -> None:
    wanted = {**GOLDEN, **MANUAL, **MURMUR}[expression]
    made = bound(expression)
    assert told(made, ONE) == [wanted]
    literals: list[Literal] = []

    def as_column(part: Expression) -> Expression | None:
        if isinstance(part, Literal):
            literals.append(part)
            return InputRef(part.data_type, len(literals) - 1)
        return None

    columned = transformed(made, as_column)
    columns = [pa.array([literal.value] * 3, arrow_type(literal.data_type)) for literal in literals]
    rows = pa.RecordBatch.from_arrays(columns, names=[str(place) for place in range(len(columns))])
    assert told(columned, rows) == [wanted] * 3
    assert told(columned, rows.slice(0, 0)) == []


def test_null_gives_null() -> None:
    never_null = {"FIELD", "HASH", "NAMED_STRUCT", "STRUCT", "ISNULL", "ISNOTNULL", "SIZE", "NVL"}
    for line in MANUAL:
        name, _, rest = line.partition("(")
        if name.upper() in never_null or name == "concat" or "," not in rest:
            continue
        first, others = rest.split(",", 1)
        if first.count("(") or first.count("'") == 1:
            continue
        kind = "STRING" if first.startswith("'") else "DATE" if first.startswith("DATE") else "DOUBLE" if "." in first else "INT"
        assert told(bound(f"{name}(CAST(NULL AS {kind}),{others}"), ONE) == [None], line


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("assert_true(1 > 2)", "the assertion failed"),
        ("assert_true(CAST(NULL AS BOOLEAN))", "the assertion failed"),
        ("xpath_string('<a><b></a>', 'a')", "no XML that can be read"),
        ("xpath('<a/>', 'count(a)')", "leads to no nodes"),
    ],
)
def test_what_has_no_value_fails(expression: str, problem: str) -> None:
    with pytest.raises(ExpressionError, match=problem):
        told(bound(expression), ONE)


@pytest.mark.parametrize(
    "declared",
    [
        '<!ENTITY x SYSTEM "file:///etc/hostname">',
        '<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY x "&b;&b;&b;&b;">',
        '<!ENTITY % p SYSTEM "http://localhost:1/x.dtd"> %p;',
    ],
)
def test_entities_are_refused(declared: str) -> None:
    with pytest.raises(ExpressionError, match="no XML that can be read"):
        told(bound(f"xpath_string('<!DOCTYPE r [{declared}]><r>&x;</r>', 'r')"), ONE)


def test_what_cannot_be_is_refused_with_its_reason() -> None:
    for call_of_it, reason in {
        "reflect('java.lang.Math', 'max', 2, 3)": "no JVM in the workers",
        "java_method('java.lang.Math', 'max', 2, 3)": "no JVM in the workers",
        "ngrams(ARRAY[ARRAY['a']], 1, 2)": "an aggregate of Hive's dialect",
        "create_union(0, 1, 'a')": "no type of unions",
        "named_struct('a', 1, 'b')": "names, which are literals",
        "hash(TIMESTAMP '2020-01-01 00:00:00')": "supported: strings",
        "current_user(1)": "takes no arguments",
    }.items():
        with pytest.raises(ProgramError, match=reason):
            bound(call_of_it)
    assert told(bound("current_user()"), ONE) == told(bound("logged_in_user()"), ONE) == [getpass.getuser()]


@pytest.mark.parametrize(
    ("expression", "package", "extra"),
    [
        ("xpath('<a/>', 'a')", "elementpath", "xml"),
        ("aes_encrypt('ABC', '1234567890123456')", "cryptography.hazmat.primitives.ciphers", "aes"),
    ],
)
def test_packages_that_are_missing_are_named(expression: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    hive_documents._library.cache_clear()
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ProgramError, match=rf"pip install 'wiesel\[{extra}\]'"):
        told(bound(expression), ONE)


def test_no_name_is_both_hives_and_flinks() -> None:
    assert not set(hive_functions()) & set(function_names())
    assert {name for name in function_names() if name.startswith(HIVE_PREFIX)} == {HIVE_PREFIX + name for name in hive_functions()} & set(
        function_names()
    )


def test_without_the_module_they_are_not_there() -> None:
    with pytest.raises(ProgramError, match="there is no function 'LEVENSHTEIN'"):
        call("LEVENSHTEIN", [])
    assert not Modules().functions()


def test_in_file_finds_lines(tmp_path: Path) -> None:
    path = tmp_path / "names.txt"
    path.write_text("ann\nbob b\n\n")
    rows = pa.RecordBatch.from_pydict({"": pa.nulls(1)})
    cases = {"'ann'": "true", "'bob'": "false", "'bob b'": "true", "''": "true", "'ann\n'": "false", "CAST(NULL AS STRING)": None}
    for text, expected in cases.items():
        assert told(bound(f"in_file({text}, '{path}')"), rows) == [expected], text
    path.write_text("cid\n")
    assert told(bound(f"in_file('ann', '{path}')"), rows) == ["false"]
    with pytest.raises(ExpressionError, match="cannot be read where the task runs"):
        told(bound(f"in_file('ann', '{tmp_path}/nothing')"), rows)
