"""The formatter: one layout, whatever the layout was, and always the same statements."""

from __future__ import annotations

import random
import textwrap
from pathlib import Path

import pytest

from tests.sql_cases.case_files import Case, all_cases
from wiesel.common import Configuration
from wiesel.core.errors import SqlParseError, WieselError
from wiesel.sql.language.formatting import format_script
from wiesel.sql.language.parser import parse_script
from wiesel.sql.language.pieces import signature
from wiesel.table import TableEnvironment

ROOT = Path(__file__).parents[2]
COMMENTS = ["-- one; 'two'\n", "/* three -- four */", "/* over\n   lines; */", "\n\n-- five\n"]


def statements() -> list[str]:
    lines = (ROOT / "differential" / "sql_statements.txt").read_text().splitlines()
    return [line for line in lines if line.strip() and is_read(line)]


def is_read(sql: str) -> bool:
    try:
        parse_script(sql)
    except SqlParseError:
        return False
    return True


STATEMENTS = statements()


def mangled(sql: str, chance: random.Random, *, comments: bool) -> str:
    """Return a script with other gaps between its tokens, and maybe comments in them."""
    gaps = [" ", "\n", "  \n\t", "\n\n\n", " "]
    text = ""
    for place, (gap, token) in enumerate(tokens_of(sql)):
        if gap and comments and chance.random() < 0.15:
            gap = f" {chance.choice(COMMENTS)} "
        elif gap and place:
            gap = chance.choice(gaps)
        text += gap + token
    return text


def tokens_of(sql: str) -> list[tuple[str, str]]:
    """Return tokens, and what stands before each; hints belong to the token before them."""
    from wiesel.sql.language.dialect import Flink

    found, end = [], 0
    for token in Flink().tokenize(sql):
        gap = sql[end : token.start]
        if gap.strip():  # a comment or hint, which stays where it is
            found.append(("", gap))
            gap = ""
        found.append((gap, sql[token.start : token.end + 1]))
        end = token.end + 1
    return found


def checked(sql: str) -> str:
    """Return the layout of a script, after a look at what must hold of it."""
    formatted = format_script(sql)
    assert signature(formatted) == signature(sql)
    assert [type(each) for each in parse_script(formatted)] == [type(each) for each in parse_script(sql)]
    assert format_script(formatted) == formatted
    assert all(line == line.rstrip() for line in formatted.splitlines() if "'" not in line and "*/" not in line)
    return formatted


def test_there_is_enough_to_format() -> None:
    assert len(STATEMENTS) > 200


@pytest.mark.parametrize("sql", STATEMENTS)
def test_every_statement_that_is_read_can_be_laid_out(sql: str) -> None:
    checked(sql)


@pytest.mark.parametrize("case", all_cases(), ids=lambda case: case.name)
def test_the_plan_is_the_same(case: Case, tmp_path: Path) -> None:
    """Each query of a case has the plan that it had before it was formatted."""
    t_env = TableEnvironment.create(Configuration().set("wiesel.engine", "local"))
    for statement in case.prelude(str(tmp_path)):
        t_env.execute_sql(statement)
    for statement in case.own(str(tmp_path)):
        if not is_read(statement):
            return
        formatted = checked(statement)
        if statement.startswith(("CREATE", "ALTER", "DROP", "USE", "SET")):
            if plan_or_error(t_env, formatted, run=True) == "OK":
                continue
            return
        assert plan_or_error(t_env, formatted) == plan_or_error(t_env, statement)


def plan_or_error(t_env: TableEnvironment, sql: str, *, run: bool = False) -> str:
    try:
        if run:
            t_env.execute_sql(sql)
            return "OK"
        return t_env.explain_sql(sql.strip().rstrip(";"))
    except WieselError as error:
        return type(error).__name__


@pytest.mark.slow
def test_other_gaps_and_comments_give_the_same_statements() -> None:
    seed = random.randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)
    for _ in range(400):
        script = ";\n".join(chance.sample(STATEMENTS, chance.randrange(1, 4))) + ";"
        if is_read(spread := mangled(script, chance, comments=False)):
            checked(spread)
        if is_read(commented := mangled(script, chance, comments=True)):
            checked(commented)


def layout(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            """
            -- what it is for
            create table orders(id bigint not null, item string, -- its name
              ts timestamp(3), watermark for ts as ts - interval '5' second,
              primary key(id) not enforced) with('connector'='datagen','number-of-rows'='10');
            """,
            """
            -- what it is for
            CREATE TABLE orders (
              id bigint NOT NULL,
              item string, -- its name
              ts timestamp(3),
              WATERMARK FOR ts AS ts - INTERVAL '5' second,
              PRIMARY KEY (id) NOT ENFORCED
            )
            WITH ('connector' = 'datagen', 'number-of-rows' = '10');
            """,
        ),
        (
            "select a.x,count(*) as n,sum(case when b.y>0 then b.y else -1 end) from table_one a left join table_two b on a.id=b.id and "
            "a.kind between 1 and 2 and b.kind in(select kind from kinds) where a.x<>'' or b.y is null group by a.x",
            """
            SELECT a.x, count(*) AS n, sum(CASE WHEN b.y > 0 THEN b.y ELSE -1 END)
            FROM table_one a
            LEFT JOIN table_two b ON a.id = b.id
              AND a.kind BETWEEN 1 AND 2
              AND b.kind IN (SELECT kind FROM kinds)
            WHERE a.x <> '' OR b.y IS NULL
            GROUP BY a.x
            """,
        ),
        (
            "EXECUTE STATEMENT SET BEGIN insert into a select 1; insert into b select 2; END;",
            """
            EXECUTE STATEMENT SET BEGIN
            INSERT INTO a SELECT 1;
            INSERT INTO b SELECT 2;
            END;
            """,
        ),
        ("insert into t select count(*),count(a) from b;", "INSERT INTO t SELECT count(*), count(a) FROM b;\n"),
        ("create view v(n)as select count(*)from b;", "CREATE VIEW v (n) AS SELECT count(*) FROM b;\n"),
        ("SELECT 1;SELECT 2;\n\n\n\nSELECT 3;", "SELECT 1;\nSELECT 2;\n\nSELECT 3;\n"),
        ("SELECT `select`, t.`from` FROM `group` AS t", "SELECT `select`, t.`from` FROM `group` AS t\n"),
        ("", ""),
        ("-- nothing else", "-- nothing else\n"),
    ],
)
def test_layouts(before: str, after: str) -> None:
    assert checked(before) == layout(after)


def test_what_cannot_be_read_is_refused() -> None:
    with pytest.raises(SqlParseError, match="line 1, column 1"):
        format_script("SELEC 1")
