"""MATCH_RECOGNIZE: what is refused, and where. What is found is compared with Flink in tests/sql_cases (match_*)."""

from __future__ import annotations

import pytest

from wiesel.common import Configuration
from wiesel.core.errors import SqlParseError
from wiesel.table import TableEnvironment

TABLE = """CREATE TABLE ticks (id INT, sym STRING, price INT,
ts TIMESTAMP(3), other TIMESTAMP(3), p AS PROCTIME(), m MAP<INT, INT>, WATERMARK FOR ts AS ts)
WITH ('connector' = 'datagen', 'number-of-rows' = '1')"""


def query(
    measures: str = "A.id AS a", pattern: str = "A B", define: str = "B AS B.price > A.price", order: str = "ORDER BY ts", after: str = ""
) -> str:
    return f"SELECT * FROM ticks MATCH_RECOGNIZE ({order} MEASURES {measures} {after} PATTERN ({pattern}) DEFINE {define})"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (query(pattern="A B+"), "a greedy quantifier at the end of PATTERN is not supported"),
        (query(pattern="A* B*?"), "a pattern that matches no rows at all is not supported"),
        (query(pattern="A | B"), "alternatives are not supported in PATTERN"),
        (query(pattern="(A C)+ B"), "groups with a quantifier are not supported in PATTERN"),
        (query(pattern="A B A"), "variable A stands in PATTERN twice"),
        (query(pattern="^ A B"), r"\^ and \$ are not supported"),
        (query(pattern="A?? B"), r"\?\? is not supported in PATTERN"),
        (query(pattern="PERMUTE(A, B)"), "PERMUTE is not supported in PATTERN"),
        (query(pattern="{- A -} B"), "exclusions are not supported"),
        (query(define="B AS B.price"), "a condition must be BOOLEAN, this is INT"),
        (query(define="B AS PREV(B.price) > 1"), "PREV is not supported for rows that stand before or behind those of the match"),
        (query(define="B AS NEXT(A.price) > 1"), "NEXT is not supported for rows that stand before or behind those of the match"),
        (query(define="B AS PREV(1) > 1"), "PREV needs a column of a variable"),
        (query(measures="PREV(A.id) AS a"), "PREV can be used in DEFINE only"),
        (query(measures="FIRST(LAST(A.id, 1), 1) AS a"), "LAST cannot stand within FIRST, LAST, PREV"),
        (query(measures="CLASSIFIER() AS a"), "CLASSIFIER is not supported in this version"),
        (query(measures="MATCH_ROWTIME(A.other) AS a"), "MATCH_ROWTIME takes the column of an event time only"),
        (query(order="ORDER BY p", measures="MATCH_ROWTIME() AS a"), "MATCH_ROWTIME needs ORDER BY an event time"),
        (query(measures="A.id AS a, B.id AS a"), "two columns of MATCH_RECOGNIZE have the name `a`"),
        (query(define="B AS SUM(A.price + B.price) > 1"), "columns of one variable only"),
        (query(measures="C.id AS a"), "`C` is not a variable of the pattern"),
        (query(measures="LAST(A.id, B.id) AS a"), "must be a whole number that is written out"),
        (query(measures="COUNT(DISTINCT A.id) AS a"), "DISTINCT and FILTER are not supported"),
        (query(measures="LAST(SUM(A.id)) AS a"), "SUM cannot stand within FIRST, LAST, PREV or an aggregate function"),
        (query(measures="A.prise AS a"), "column `prise` was not found"),
        (query(measures="RUNNING LAST(A.id) AS a"), "RUNNING is not supported"),
        (query(order="ORDER BY other"), "in the order of the time of the rows only"),
        (query(order="ORDER BY ts DESC"), "in ascending order of time only"),
        (query(order="ORDER BY ts, m"), "columns of values that can be ordered only"),
        (query(order=""), "needs ORDER BY the time of the rows"),
        (query(after="ALL ROWS PER MATCH"), "ALL ROWS PER MATCH is not supported"),
        (query(after="AFTER MATCH SKIP TO FIRST A"), "the next match would begin where this one began"),
        (query(after="AFTER MATCH SKIP TO LAST X"), "`X` is not a variable of the pattern"),
    ],
)
def test_what_is_not_supported_is_refused_with_its_place(text: str, message: str) -> None:
    t_env = TableEnvironment.create(Configuration().set("wiesel.engine", "local"))
    t_env.execute_sql(TABLE)
    with pytest.raises(SqlParseError, match=f"line 1, column [0-9]+: (?s:.*)({message})"):
        t_env.sql_query(text)
