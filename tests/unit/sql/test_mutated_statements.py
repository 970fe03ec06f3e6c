"""Statements that nobody would write: those of the cases, altered at random, are refused or taken; nothing else happens."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from random import Random
from types import FrameType

import pytest

from tests.sql_cases.case_files import Case, all_cases
from tests.unit.random_sql.choices import Choices
from tests.unit.table.hive_tables import hive_environment
from wiesel.common import Configuration
from wiesel.core.errors import SqlParseError, WieselError
from wiesel.sql.language.parser import check_script, parse_script
from wiesel.table import TableEnvironment

SEEDS = range(4)
STATEMENTS = 1500
QUERIES = 150
LIMIT_S = 30
_TOKENS = re.compile(r"'(?:[^']|'')*'|`[^`]*`|\w+|[^\w\s]|\s+")
_QUERY = re.compile(r"\s*(SELECT|WITH|\()", re.IGNORECASE)
_MAKES = re.compile(r"\s*(CREATE|LOAD|SET)", re.IGNORECASE)
_STRANGE = "? : @ # $ % ^ & \\ ~ \" é 😀 /*+ */ -- 1e .5 99999999999999999999 ( ) , . NULL * INTERVAL CASE OVER".split()


@cache
def words() -> list[str]:
    """Return all tokens of the cases, which come as often as they do there, and some that do not belong into SQL."""
    found = [token for case in all_cases() for token in _TOKENS.findall(case.text) if not token.isspace()]
    return [*found, *_STRANGE * (len(found) // (10 * len(_STRANGE)))]


def mutated(choices: Choices, statement: str) -> str:
    """Return a statement with tokens left out, repeated, exchanged, replaced or put in."""
    tokens = _TOKENS.findall(statement)
    for _ in range(1 + choices.below(3)):
        place = choices.below(max(len(tokens), 1))
        way = choices.below(6)
        if way == 0:
            del tokens[place : place + 1]
        elif way == 1:
            tokens[place:place] = tokens[place : place + 1]
        elif way == 2:
            other = choices.below(max(len(tokens), 1))
            tokens[place : place + 1], tokens[other : other + 1] = tokens[other : other + 1], tokens[place : place + 1]
        elif way == 3:
            tokens[place : place + 1] = [choices.of(words())]
        elif way == 4:
            tokens.insert(place, f" {choices.of(words())} ")
        else:
            del tokens[place : place + 1 + choices.below(12)]
    return "".join(tokens)


@contextmanager
def in_time(statement: str) -> Iterator[None]:
    """Fail if a statement is worked on for too long."""

    def too_long(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"no end after {LIMIT_S} s: {statement}")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(LIMIT_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("seed", range(2))
def test_queries_of_hive_are_bound_or_refused(seed: int) -> None:
    choices, t_env = Choices(seed), hive_environment()
    lines = (Path(__file__).parents[2] / "differential" / "hive_queries.txt").read_text().splitlines()
    queries = [line.removeprefix("ordered: ") for line in lines if line and not line.startswith("#")]
    taken = 0
    for _ in range(QUERIES):
        query = mutated(choices, choices.of(queries))
        with in_time(query), suppress(WieselError):
            t_env.sql_query(query)
            taken += 1
    assert 0 < taken < QUERIES


@pytest.mark.parametrize("seed", SEEDS)
def test_statements_are_read_or_refused(seed: int, tmp_path: Path) -> None:
    choices = Choices(seed)
    statements = [statement for case in all_cases() for statement in case.statements(str(tmp_path))]
    refused = 0
    for _ in range(STATEMENTS):
        text = mutated(choices, choices.of(statements))
        with in_time(text):
            errors = check_script(text)[1]
            if not errors:
                parse_script(text)
                continue
            refused += 1
            with pytest.raises(SqlParseError, match=r"line \d+, column \d+"):
                parse_script(text)
    assert STATEMENTS // 10 < refused < STATEMENTS, f"seed {seed}: {refused}"


def environment_of(case: Case, out: str) -> TableEnvironment:
    """Return an environment with the tables, views and functions of a case."""
    t_env = TableEnvironment.create(Configuration().set("wiesel.engine", "local"))
    for statement in case.statements(out):
        if _MAKES.match(statement):
            try:
                t_env.execute_sql(statement)
            except WieselError:  # of cases of errors
                continue
    return t_env


@pytest.mark.parametrize("seed", SEEDS)
def test_queries_are_planned_or_refused(seed: int, tmp_path: Path) -> None:
    choices = Choices(seed)
    cases = [case for case in all_cases() if any(map(_QUERY.match, case.own(str(tmp_path))))]
    cases = Random(seed).sample(cases, 20)
    environments = [(environment_of(case, str(tmp_path)), case) for case in cases]
    planned = tried = 0
    while tried < QUERIES:
        t_env, case = choices.of(environments)
        text = mutated(choices, choices.of([own for own in case.own(str(tmp_path)) if _QUERY.match(own)]))
        if not _QUERY.match(text):
            continue
        tried += 1
        with in_time(text):
            try:
                t_env.explain_sql(text)
            except WieselError:
                continue
            except Exception as error:
                raise AssertionError(f"seed {seed}: {type(error).__name__} where an error with a place belongs: {text}") from error
        planned += 1
    assert 0 < planned < QUERIES, f"seed {seed}: {planned}"


REFUSED = [
    ("SELECT JSON_EXISTS(#)", "line 1, column 20: an argument expected, found '#'"),
    ("SELECT JSON_VALUE('{}', '$.c' DEFAULT , ON EMPTY)", "line 1, column 39: a value expected, found ','"),
    ("SELECT JSON_EXISTS('{}', 'lax $.a'", "line 1, column 26: ')' expected, found the end"),
    ("SELECT CAST(1 AS INT", "line 1, column 18: ')' expected, found the end"),
    ("SELECT SUBSTRING('abc' FROM 2 FOR 1 2)", "line 1, column 37: ')' expected, found '2'"),
    ("SELECT ARRAY[, 2]", "line 1, column 14: nothing that belongs there stands before the comma"),
    ("SELECT COALESCE(, 2)", "line 1, column 17: nothing that belongs there stands before the comma"),
    ("SELECT , 2", "line 1, column 8"),
    ("SELECT a FROM o GROUP BY , a", "line 1, column 26"),
    ("SELECT ARRAY[1", "line 1, column 14: ']' expected, found the end"),
    ("SELECT * AS x FROM o", "line 1, column 8: * stands for several columns"),
    ("SELECT 1e", "line 1, column 8: 1e is not a number"),
    ("SELECT ABS(. 0.75)", "line 1, column 8: 0.0.75 is not a number"),
    ("SELECT x", "there is no table here; a text stands between single quotes"),
    ("SELECT * FROM o m(PARTITION BY a ORDER BY b)", "line 1, column"),
    ("SELECT * FROM o /*+ OPTIONS('a' =< 'b') */", "line 1, column 34: ')' expected, found '<'"),
    ("SELECT /*+ BROADCAST(a b) */ * FROM o", "line 1, column 24: ')' expected, found 'b'"),
    ("SELECT * FROM o /*+ OPTIONS('a' = 'b */", "line 1, column 20: this hint cannot be read"),
    ("INSERT INTO o /*+ OPTIONS('a' =< 'b') */ SELECT 1", "line 1, column 32: ')' expected, found '<'"),
    ("SELECT SUM(a) OVER (ORDER BY a RANGE AND UNBOUNDED FOLLOWING) FROM o", "line 1, column 8: the frame does not say where it begins"),
    ("SELECT * FROM TABLE(SESSION(TABLE o PARTITION BY , DESCRIPTOR(t), INTERVAL '1' HOUR))", "column 50: a column expected, found ','"),
    ("SELECT * FROM TABLE(SESSION(TABLE o PARTITION BY (), DESCRIPTOR(t), INTERVAL '1' HOUR))", "a column expected, found"),
    (f"SELECT {'(' * 3000}1{')' * 3000}", "line 1, column 1: this is nested too deeply"),
]


@pytest.mark.parametrize(("statement", "message"), REFUSED)
def test_what_was_found_in_this_way(statement: str, message: str) -> None:
    t_env = TableEnvironment.create(Configuration().set("wiesel.engine", "local"))
    t_env.execute_sql("CREATE TABLE o (a INT, b INT, t TIMESTAMP(3), WATERMARK FOR t AS t) WITH ('connector' = 'datagen')")
    with pytest.raises(WieselError, match=re.escape(message)), in_time(statement):
        t_env.explain_sql(statement)
