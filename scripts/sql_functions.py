"""Writes docs/sql-functions.md: which of Flink's and Hive's functions there are (``python scripts/sql_functions.py``)."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

from wiesel.columnar.aggregates.registry import aggregate_names
from wiesel.columnar.functions.registry import function_names
from wiesel.sql.catalog.modules import hive_functions
from wiesel.sql.plan.over_relations import POSITIONS

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "sql-functions.md"
NAMES = ROOT / "tests" / "differential" / "goldens" / "sql_function_names.json"

WRITTEN_AS = {
    "AT": "ITEM",
    "BETWEEN": "<=",
    "IFTHENELSE": "IF",
    "IS_JSON": "IS JSON",
    "LOWERCASE": "LOWER",
    "NOTBETWEEN": "<=",
    "SUBSTR": "SUBSTRING",
    "TEMPORALOVERLAPS": "OVERLAPS",
    "UPPERCASE": "UPPER",
}
"""What Flink's definitions call differently from the functions here; SQL writes these otherwise anyway."""

SHOWN = {
    "AT": "`array[1]`, `map['key']`",
    "BETWEEN": "`a BETWEEN b AND c`",
    "IFTHENELSE": "`CASE`, `IF`",
    "IS_JSON": "`a IS JSON`",
    "NOTBETWEEN": "`a NOT BETWEEN b AND c`",
    "TEMPORALOVERLAPS": "`(a, b) OVERLAPS (c, d)`",
    "LOWERCASE": "`LOWER`",
    "UPPERCASE": "`UPPER`",
}

OF_THE_PLANNER = ("AGG_DECIMAL_PLUS", "DEFAULT", "HIVE_AGG_DECIMAL_PLUS", "REINTERPRET_CAST")
"""What Flink's planner puts into plans and no query can call."""

NO_AGGREGATES = ("DISTINCT", "SUM0")
"""What Flink's definitions list among aggregates and no query can call as one."""

EXPLAINED = {
    "$": "belongs to plans: the name cannot be written",
    "AUXILIARY_GROUP": "Flink's planner cannot run it",
    "/INT": "belongs to plans: it cannot be written",
    "CLASSIFIER": "Flink's parser reads it and its generated code has no value for it",
    "DOT": "is written as a point",
    "IGNORE NULLS": "Flink reads and disregards it; it is refused",
    "JSON_ARRAYAGG_ABSENT_ON_NULL": "is written JSON_ARRAYAGG(... ABSENT ON NULL)",
    "JSON_ARRAYAGG_NULL_ON_NULL": "is written JSON_ARRAYAGG(... NULL ON NULL)",
    "JSON_OBJECTAGG_ABSENT_ON_NULL": "is written JSON_OBJECTAGG(... ABSENT ON NULL)",
    "JSON_OBJECTAGG_NULL_ON_NULL": "is written JSON_OBJECTAGG(... NULL ON NULL)",
    "HOP_PROCTIME": "refused; PROCTIME() over the groups is the same",
    "ML_EVALUATE": "needs a model provider that can evaluate; no connector that is built in has one",
    "PROCTIME_MATERIALIZE": "belongs to plans: it makes a processing time a value",
    "RESPECT NULLS": "as IGNORE NULLS",
    "RUNNING": "needs ALL ROWS PER MATCH, which Flink does not run",
    "Reinterpret": "belongs to plans",
    "SEARCH": "belongs to plans: several comparisons of one value",
    "SESSION_PROCTIME": "as HOP_PROCTIME",
    "STREAMRECORD_TIMESTAMP": "belongs to plans; Flink's generated code fails",
    "TUMBLE_PROCTIME": "as HOP_PROCTIME",
    "VECTOR_SEARCH": "needs a connector that finds vectors; none that is built in can, as in Flink",
}
"""Operators of Flink's planner that no recorded statement has, and why."""

HIVE = """
    abs acos add_months aes_decrypt aes_encrypt array array_contains ascii asin assert_true atan base64 between bin bround cbrt ceil ceiling
    char_length character_length chr coalesce concat concat_ws context_ngrams conv cos crc32 create_union current_database current_date
    current_timestamp current_user date_add date_format date_sub datediff day dayofmonth dayofweek decode degrees e elt encode exp explode
    factorial field find_in_set floor floor_day floor_hour floor_minute floor_month floor_quarter floor_second floor_week floor_year
    format_number from_unixtime from_utc_timestamp get_json_object greatest hash hex hour if in in_file initcap inline instr isfalse
    isnotfalse isnotnull isnottrue isnull istrue java_method json_tuple last_day lcase least length levenshtein ln locate log log10 log2
    logged_in_user lower lpad ltrim map map_keys map_values mask mask_first_n mask_hash mask_last_n mask_show_first_n mask_show_last_n md5
    minute mod month months_between murmur_hash named_struct negative next_day ngrams nullif nvl octet_length parse_url parse_url_tuple pi
    pmod posexplode positive pow power printf quarter radians rand reflect regexp regexp_extract regexp_replace repeat replace reverse rlike
    round rpad rtrim second sentences sha sha1 sha2 shiftleft shiftright shiftrightunsigned sign sin size sort_array soundex space split
    sqrt stack str_to_map struct substr substring substring_index tan to_date to_unix_timestamp to_utc_timestamp translate trim trunc ucase
    unbase64 unhex unix_timestamp upper uuid weekofyear width_bucket xpath xpath_boolean xpath_double xpath_float xpath_int xpath_long
    xpath_number xpath_short xpath_string year
""".split()
"""The scalar and table functions of Hive 2.3, as its manual lists them, and n-grams."""

IN_SYNTAX = frozenset({"between", "if", "in", "regexp", "nullif", "mod", "substr", "ceiling", "character_length"})
PARTS = frozenset({"year", "quarter", "month", "day", "hour", "minute", "second", "dayofmonth", "dayofweek"})


OF_ENVIRONMENTS = frozenset({"CURRENT_DATABASE", "CURRENTDATABASE"})
"""What queries are told by the environment, and no function computes."""


def flink_names() -> list[str]:
    """Return the names of Flink's scalar functions that queries can call."""
    names: list[str] = json.loads(NAMES.read_text())["SCALAR"]
    return [name for name in names if name not in OF_THE_PLANNER]


def is_supported(name: str) -> bool:
    """Return whether a function of Flink is there."""
    return WRITTEN_AS.get(name, name) in set(function_names()) or name in OF_ENVIRONMENTS


def hive_supported(name: str) -> bool:
    """Return whether there is a function of Hive's name, in the module or among Flink's."""
    known = {*hive_functions(), *function_names(), *OF_ENVIRONMENTS}
    return name.upper() in known or name in IN_SYNTAX or name in PARTS


DIFFERENCES = """## Where values differ from Flink's

- `GREATEST` and `LEAST` of decimals give NULL where one is NULL; Flink fails with a `NullPointerException`.
- `ATAN2` takes a `DOUBLE` and a `DECIMAL`, `SIGN` takes a `TINYINT`; Flink fails.
- `CAST` of a text that is no number to `DECIMAL` fails; Flink ignores one character behind the digits: `'12x'` is 12, `'a'` 0.
- Literals that are cast to `FLOAT` are rounded to it; Flink forgets that when it makes them `DOUBLE` next.
- `ROUND` and `TRUNCATE` of decimals to a number of digits that is no literal round; Flink moves the point.
- Maps cannot have NULL as a key. Entries of those read from JSON come in the order of the file, in Flink in that of a hash table.
- The last digits of `STDDEV_POP`, `STDDEV_SAMP`, `VAR_POP` and `VAR_SAMP` may be others: values are added up by batch, not one by one.
- Regular expressions do not take classes within classes or intersections of them (`[a-z&&[^b]]`); such a pattern fails. What may match
  nothing at all finds nothing between the two halves that a character beyond `\\uFFFF` has in Java, where Flink counts and replaces.
- `RAND(seed)` repeats its numbers from start to start, but they are not Java's.
- Parts of `TIMESTAMP_LTZ` before 1970 are right; Flink counts the hours backwards and takes the next day.
- `CURRENT_WATERMARK` is NULL in batch mode; Flink refuses it there.
- `LAG` with a default gives it where the row before has NULL, too; Flink gives -1 or an empty text there.
- Values of type `VARIANT` are equal where they print the same; in Flink `1` and `1.0` are not, nor are objects whose keys were written in
  another order. A `VARIANT` that is never NULL can stand beside one that may be, and `v[name]` takes names that are computed;
  Flink fails.
- Paths into JSON are those of JsonPath without functions (`.length()`); one that cannot be read is refused, where Flink takes it for an
  ERROR of the text. Filters compare objects and arrays as different from all else; Flink fails. A step behind `..[0]` or `..*` is
  taken from what these lead to; Flink takes it from all elements of arrays, or loses it.
- Timestamps of more than six digits reach from 1677 to 2262.
"""


def page() -> str:
    """Return the text of the page."""
    names = flink_names()
    supported = [name for name in names if is_supported(name)]
    missing = [name for name in names if not is_supported(name)]
    all_aggregates = [name for name in json.loads(NAMES.read_text())["AGGREGATE"] if name not in NO_AGGREGATES]
    aggregates = [name for name in all_aggregates if name in {*aggregate_names(), *POSITIONS}]
    hive = [name for name in HIVE if hive_supported(name)]
    return f"""# Functions of SQL

This page is generated (`python scripts/sql_functions.py`); a test says when it is old. The names are those that Flink 2.3 itself lists.
Types, values and failures are held against what real Flink says to over 1300 expressions.

## Scalar functions of Flink

{_listed(f"{len(supported)} of {len(names)} are supported:", supported)}

Besides, SQL has other names for some: `CHARACTER_LENGTH`, `CEILING`, `MOD`, `SUBSTR`, `YEAR`, `QUARTER`, `MONTH`, `WEEK`, `DAYOFYEAR`,
`DAYOFMONTH`, `DAYOFWEEK`, `HOUR`, `MINUTE`, `SECOND`, `TIMESTAMPADD`, `NULLIF`, `CASE`, `IS [NOT] DISTINCT FROM`.

{_listed("Not supported (a query that calls one of them is refused):", missing)}

`PARSE_JSON` and `TRY_PARSE_JSON` return values of type `VARIANT`, as Flink 2.3 has it: `v['name']` is a field, `v[1]` an element, NULL
where there is none, `JSON_STRING(v)` the text. There is no CAST from or to `VARIANT`, no order, rows cannot be grouped by it, and files
do not keep it. `CAST(JSON_STRING(v['n']) AS INT)` makes a part a number, `JSON_VALUE(JSON_STRING(v['s']), '$')` a text without quotes. In
Python, in `collect()` and in functions, it is the text of JSON.

## Aggregate functions of Flink

{_listed(f"{len(aggregates)} of {len(all_aggregates)} are supported:", aggregates)}

`LAG` and `LEAD` stand with `OVER` only, and `LEAD` in batch mode, as in Flink.

## Operators of Flink's planner that are not recorded

`tests/differential/goldens/sql_operators.json` lists all operators and functions of the planner with their signatures. Every one is in a
statement that was recorded from real Flink, except for those whose names begin with `$` (they belong to plans) and

{_explained()}

`APPROX_COUNT_DISTINCT` returns what Flink's HyperLogLog++ does; as in Flink groups have it in batch mode only, and with `OVER` in
streaming mode it counts exactly. `PRINT` writes to the standard output of the worker.

## Functions of Hive

`LOAD MODULE hive` brings functions that Hive has and Flink has not. They follow the rules of Hive's manual, and are held against
its examples. Functions that both have follow Flink's rules, whichever module is named first. `explode`, `posexplode`, `inline`, `stack`,
`json_tuple` and `parse_url_tuple` return tables: `FROM t, LATERAL TABLE(explode(t.a)) AS f (x)`; they are held against Hive's own classes.

{_listed("The module brings", [name.lower() for name in sorted(hive_functions())])}

{_listed(f"With those of Flink {len(hive)} of {len(HIVE)} can be called:", hive)}

{_listed("Not supported:", [name for name in HIVE if not hive_supported(name)])}

`xpath` and its like need `pip install 'wiesel[xml]'`, `aes_encrypt` and `aes_decrypt` `pip install 'wiesel[aes]'`, on the workers too.
XML with entities of its own is refused. `mask_hash` is SHA-256, as in Hive since version 3. `sentences` cuts as Java 17 does, but for
strings in Thai, which are refused; where marks stand one behind the other that no prose has, it may cut elsewhere. Of what is not supported
`reflect` and `java_method` call methods of Java, `create_union` has a type that Flink has not;
`ngrams` and `context_ngrams` are aggregates of [Hive's dialect](hive.md). `in_file` reads the file on the host of the task.
`murmur_hash` is that of Hive 3.1.3.

{DIFFERENCES}"""


def _explained() -> str:
    return "\n".join(f"- `{name}`: {why}" for name, why in EXPLAINED.items() if name != "$")


def _listed(begin: str, names: list[str]) -> str:
    shown = ", ".join(SHOWN.get(name, f"`{name}`") for name in names)
    return textwrap.fill(f"{begin} {shown}.", 140, break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    PAGE.write_text(page())
