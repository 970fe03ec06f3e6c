"""Writes random expressions over the columns of ``sql_samples.py`` to ``sql_random_expressions.txt``, which is recorded like the others.

Run it with a seed and a number of expressions. The templates name the kind of each part between braces; what real Flink computes wrongly
or not at all by a fault of its own is listed as not imitated where the records are tested.
"""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path

__all__ = ["expressions"]

LEAVES = {
    "number": "ti si i l f d p q n 0 1 2 -1 3 10 1.5 0.01 -2.25 123456789.123 1e3 2147483647 CAST(7~AS~BIGINT) CAST(1.25~AS~FLOAT)".split(),
    "text": (
        "s v s v r.y '' 'a' 'Hello' '12' '~7~' '-3.5' 'true' '2020-02-29' '2020-02-29~10:20:30.456' 'äÖ' 'a,b;c' 'o' 'l' 'x''y'".split()
    ),
    "truth": "b b TRUE FALSE (i~>~0) (s~=~v) (d~<~1)".split(),
    "moment": "ts t6 ts tz TIMESTAMP~'2020-01-31~23:59:59.5'".split(),
    "date": "dt DATE~'2024-02-29'".split(),
    "small": "0 1 2 -1 3 5 n".split(),
    "constant": "'' 'a' 'o' 'l' ',' '~' '12' 'Hello' '%o%' 'H_llo%'".split(),
    "length": "0 1 3 100".split(),
    "unit": "SECOND MINUTE HOUR DAY WEEK MONTH QUARTER YEAR".split(),
    "interval": [
        f"INTERVAL~'{count}'~{unit}" for count in ("1", "30", "-1") for unit in ("SECOND", "MINUTE", "HOUR", "DAY", "MONTH", "YEAR")
    ],
    "pattern": [r"'(\w)(\w)'", "'[a-z]+'", r"'(l+)(o)?'", r"'(\d+)'", "'^(.)'", "'(.)$'", r"'\s+'", "''"],
    "format": "'yyyy-MM-dd' 'HH:mm:ss.SSS' 'yy/M/d' 'EEE~MMM' 'D~w' 'hh~a' 'yyyyMMdd~HHmmss'".split(),
    "kind of number": "TINYINT SMALLINT INT BIGINT FLOAT DOUBLE DECIMAL(10,~2) DECIMAL(5,~1) DECIMAL(38,~10)".split(),
    "kind of text": "STRING VARCHAR(5) CHAR(4) VARCHAR(30) CHAR(12)".split(),
}
"""What stands for a kind when no more parts are wanted; ~ is a blank."""

PARTS = {
    "number": """({number} + {number})|({number} - {number})|({number} * {number})|({number} / {number})|MOD({number}, 7)|-{number}
        ABS({number})|SIGN({number})|FLOOR({number})|CEIL({number})|ROUND({number}, {small})|TRUNCATE({number}, 1)
        CAST({number} AS {kind of number})|CAST({text} AS {kind of number})|TRY_CAST({text} AS {kind of number})
        TRY_CAST({number} AS {kind of number})|COALESCE({number}, {number})|CASE WHEN {truth} THEN {number} ELSE {number} END
        IF({truth}, {number}, {number})|NULLIF({number}, {number})|CHAR_LENGTH({text})|ASCII({text})|POSITION({constant} IN {text})
        EXTRACT({unit} FROM {moment})|EXTRACT(DOY FROM {date})|EXTRACT(HOUR FROM tm)|TIMESTAMPDIFF({unit}, {moment}, {moment})
        GREATEST({number}, {number})|LEAST({number}, {number})|SQRT({number})|EXP({number})|LN({number})|LOG10({number})
        SIN({number})|ATAN({number})|DEGREES({number})|POWER({number}, {small})|CARDINALITY(arr)|arr[2]|m['a']|r.x|ARRAY_MAX(arr)""",
    "text": """
        ({text} || {text})|UPPER({text})|LOWER({text})|INITCAP({text})|REVERSE({text})|TRIM({text})|LTRIM({text})|HEX({text})
        MD5({text})|TO_BASE64({text})|SUBSTRING({text}, {small}, {length})|SUBSTRING({text} FROM {small})
        REPLACE({text}, {constant}, {constant})|CAST({number} AS {kind of text})|CAST({text} AS {kind of text})
        CAST({truth} AS {kind of text})|CAST({moment} AS {kind of text})|CAST({date} AS STRING)|CONCAT({text}, {text}, v)
        CONCAT_WS({constant}, {text}, v, r.y)|CONCAT_WS({text}, v, v)|LPAD({text}, {small}, {constant})
        RPAD({text}, {small}, {constant})|REPEAT({text}, {small})|SPLIT_INDEX({text}, {constant}, {small})
        REGEXP_EXTRACT({text}, {pattern}, 1)|REGEXP_EXTRACT({text}, {pattern})|REGEXP_REPLACE({text}, {pattern}, {constant})
        OVERLAY({text} PLACING {constant} FROM {small} FOR 2)|LEFT({text}, {small})|RIGHT({text}, {small})
        CASE WHEN {truth} THEN {text} ELSE {text} END|IF({truth}, {text}, {text})|COALESCE({text}, {text})|NULLIF({text}, {text})
        DATE_FORMAT({moment}, {format})|TRIM(BOTH {constant} FROM {text})|GREATEST({text}, {text})|TYPEOF({number})|TYPEOF({text})
        TRANSLATE({text}, {constant}, {constant})|JSON_STRING({text})|CAST(ROW(i, s, d) AS STRING)|CAST(MAP['k', d] AS STRING)
        CHR(ti)|BIN({small})|SPLIT({text}, {constant})[2]|ARRAY_JOIN(ARRAY[{text}, v], {constant})
        JSON_OBJECT('k' VALUE {text}, 'n' VALUE {number})""",
    "truth": """
        ({number} = {number})|({number} <> {number})|({number} < {number})|({number} >= {number})|({text} = {text})|({text} < {text})
        ({moment} < {moment})|({moment} = {moment})|({truth} AND {truth})|({truth} OR {truth})|(NOT {truth})|({number} IS NULL)
        ({text} IS NOT NULL)|({truth} IS TRUE)|({truth} IS NOT FALSE)|{number} > {number} IS UNKNOWN
        ({number} BETWEEN {number} AND {number})|({number} IN (1, 2, {small}))|({text} IN ({constant}, {constant}))
        ({text} NOT IN ({constant}, 'a'))|({text} LIKE {constant})|({text} NOT LIKE {constant})|({number} IS DISTINCT FROM {number})
        ({text} IS NOT DISTINCT FROM {text})|CAST({number} AS BOOLEAN)|TRY_CAST({text} AS BOOLEAN)|REGEXP({text}, {pattern})
        ({date} < {date})""",
    "moment": """({moment} + {interval})|({moment} - {interval})|CAST({text} AS TIMESTAMP(3))|CAST({date} AS TIMESTAMP(3))
        CAST({moment} AS TIMESTAMP(6))|FLOOR({moment} TO {unit})|CEIL({moment} TO {unit})|TIMESTAMPADD({unit}, {small}, {moment})
        TO_TIMESTAMP({text})|COALESCE({moment}, {moment})|CASE WHEN {truth} THEN {moment} ELSE {moment} END
        TRY_CAST({text} AS TIMESTAMP(3))|IF({truth}, {moment}, {moment})""",
    "date": """
        CAST({text} AS DATE)|CAST({moment} AS DATE)|({date} + INTERVAL '31' DAY)|({date} - INTERVAL '1' MONTH)|TO_DATE({text})
        COALESCE({date}, {date})|TRY_CAST({text} AS DATE)|IF({truth}, {date}, {date})""",
}
"""What is made of parts, between | or line ends."""

TEMPLATES = {kind: [each.strip() for each in re.split(r"[|]{1}(?![|])(?<![|]{2})|\n", text.strip())] for kind, text in PARTS.items()}
_PLACE = re.compile(r"\{([a-z ]+)\}")
_LONGEST = 200


def expressions(seed: int, count: int) -> list[str]:
    """Return different random expressions."""
    chance = random.Random(seed)

    def made(kind: str, depth: int) -> str:
        if depth == 0 or kind not in TEMPLATES:
            return chance.choice(LEAVES[kind]).replace("~", " ")
        return _PLACE.sub(lambda place: made(place[1], chance.randrange(depth)), chance.choice(TEMPLATES[kind]))

    found: dict[str, None] = {}
    while len(found) < count:
        expression = made(chance.choice(("number", "number", "text", "text", "truth", "moment", "date")), chance.choice((1, 2, 2, 3)))
        if len(expression) <= _LONGEST:
            found[expression] = None
    return list(found)


if __name__ == "__main__":
    Path(__file__).with_name("sql_random_expressions.txt").write_text("\n".join(expressions(int(sys.argv[1]), int(sys.argv[2]))) + "\n")
