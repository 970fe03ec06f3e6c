"""The tables that ``tests/differential/hive_query_tables.txt`` makes in Hive, and values as Hive prints them."""

from __future__ import annotations

import datetime
import decimal
import json
from typing import Any

from wiesel.common import Configuration
from wiesel.table import EnvironmentSettings, SqlDialect, TableEnvironment
from wiesel.types import logical as t
from wiesel.types.java_strings import double_to_string

_TABLES: dict[str, tuple[dict[str, str], str]] = {
    "emp": (
        {"id": "INT", "name": "STRING", "dept": "STRING", "salary": "DOUBLE", "hired": "STRING", "boss": "INT"},
        """(1, 'Ann', 'dev', 100.5, '2020-01-15', NULL), (2, 'Bob', 'dev', 80.0, '2021-03-01', 1), (3, 'Cy', 'ops', 70.25, '2019-07-31', 1),
        (4, 'Di', 'ops', NULL, '2022-12-24', 3), (5, 'Ed', NULL, 55.0, NULL, 3), (6, 'Flo', 'hr', 80.0, '2021-03-01', 1)""",
    ),
    "dept": (
        {"dept": "STRING", "title": "STRING", "lvl": "INT"},
        "('dev', 'Development', 2), ('ops', 'Operations', 1), ('law', 'Legal', NULL)",
    ),
    "nums": (
        {
            "k": "INT",
            "s": "STRING",
            "i": "INT",
            "b": "BIGINT",
            "d": "DOUBLE",
            "c": "DECIMAL(10, 2)",
            "f": "BOOLEAN",
            "dt": "DATE",
            "ts": "TIMESTAMP(6)",
        },
        """(1, '1', 7, 3, 2.5, 12.34, true, '2020-02-29', '2020-02-29 12:34:56'),
        (2, '01', -7, 2, -2.5, -0.50, false, '1999-12-31', '1999-12-31 23:59:59'), (3, 'x', 0, 0, 0.0, 100.00, NULL, NULL, NULL),
        (4, NULL, NULL, NULL, NULL, NULL, true, '2021-01-01', '2021-01-01 00:00:00')""",
    ),
    "nest": (
        {
            "id": "INT",
            "arr": "ARRAY<INT>",
            "tags": "ARRAY<STRING>",
            "m": "MAP<STRING, INT>",
            "st": "ROW<x INT, y STRING>",
            "js": "STRING",
            "url": "STRING",
        },
        """(1, ARRAY[3, 1, 2], ARRAY['a', 'b'], MAP['k1', 10, 'k2', 20], ROW(5, 'five'), '{"a":1,"b":"two","c":{"d":[1,2]}}',
        'http://host.com/path/p.php?k1=v1&k2=v2#Ref1'),
        (2, CAST(NULL AS ARRAY<INT>), ARRAY['c'], MAP['k1', 30], ROW(6, 'six'), '{"a":null}', NULL),
        (3, ARRAY[9], ARRAY['d'], MAP['z', 0], ROW(7, ''), 'no json', 'https://u@h:80/x')""",
    ),
}


def hive_environment(mode: str = "BATCH") -> TableEnvironment:
    """Return an environment with the tables whose statements are Hive's."""
    settings = EnvironmentSettings.new_instance().with_configuration(Configuration().set("wiesel.engine", "local"))
    settings = settings.in_batch_mode() if mode == "BATCH" else settings.in_streaming_mode()
    t_env = TableEnvironment.create(settings.build())
    for name, (columns, values) in _TABLES.items():
        casts = ", ".join(f"CAST({column} AS {of}) AS {column}" for column, of in columns.items())
        t_env.execute_sql(f"CREATE TEMPORARY VIEW {name} AS SELECT {casts} FROM (VALUES {values}) AS v ({', '.join(columns)})")
    t_env.get_config().set_sql_dialect(SqlDialect.HIVE)
    return t_env


def hive_text(value: Any, of: t.DataType) -> str:
    """Return a value of a type as Hive prints it."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return double_to_string(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ", "microseconds").rstrip("0").rstrip(".")
    if isinstance(value, decimal.Decimal):
        return f"{value:f}"
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode()
    if isinstance(of, t.ArrayType | t.MapType | t.RowType):
        return json.dumps(_plain(value, of), ensure_ascii=False, separators=(",", ":"))
    return str(value)


def _plain(value: Any, of: t.DataType) -> Any:
    if value is None:
        return None
    if isinstance(of, t.RowType):
        return {field.name: _plain(part, field.data_type) for field, part in zip(of, value, strict=True)}
    if isinstance(of, t.ArrayType):
        return [_plain(part, of.element_type) for part in value]
    if isinstance(of, t.MapType):
        return {str(key): _plain(part, of.value_type) for key, part in value.items()}
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return hive_text(value, of) if isinstance(value, datetime.date) else value


def same(found: str, wanted: str) -> bool:
    """Return whether two values are the same: decimals by their value, floating-point numbers to 14 digits."""
    if found == wanted:
        return True
    try:
        one, other = decimal.Decimal(found), decimal.Decimal(wanted)
    except decimal.InvalidOperation:
        return False
    return abs(one - other) <= abs(other) * decimal.Decimal("1e-14")
