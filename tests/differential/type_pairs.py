"""Pairs of operands of every type, and what they are put into: for ``record_type_pairs.py`` and the test of what it recorded."""

from __future__ import annotations

COLUMNS = {
    "n_i": "INT NOT NULL",
    "ti": "TINYINT",
    "i": "INT",
    "l": "BIGINT",
    "f": "FLOAT",
    "d": "DOUBLE",
    "p": "DECIMAL(10, 2)",
    "q": "DECIMAL(20, 5)",
    "b": "BOOLEAN",
    "s": "STRING",
    "n_s": "STRING NOT NULL",
    "v": "VARCHAR(5)",
    "c4": "CHAR(4)",
    "c6": "CHAR(6)",
    "bin": "BYTES",
    "b4": "BINARY(4)",
    "vb3": "VARBINARY(3)",
    "dt": "DATE",
    "tm": "TIME(0)",
    "ts": "TIMESTAMP(3)",
    "t6": "TIMESTAMP(6)",
    "tz": "TIMESTAMP_LTZ(3)",
    "z6": "TIMESTAMP_LTZ(6)",
    "ai": "ARRAY<INT>",
    "al": "ARRAY<BIGINT NOT NULL>",
    "m": "MAP<STRING, INT>",
    "m2": "MAP<STRING, BIGINT>",
    "r": "ROW<x INT, y STRING>",
    "r2": "ROW<x BIGINT, z VARCHAR(3)>",
}
OPERANDS = (*COLUMNS, "INTERVAL '1' DAY", "INTERVAL '1' MONTH", "'ab'", "1.5")
TABLE = (
    "CREATE TABLE t ("
    + ", ".join(f"`{name}` {kind}" for name, kind in COLUMNS.items())
    + ") WITH ('connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'json')"
)
PUT_INTO = (
    "SELECT CASE WHEN b THEN {0} ELSE {1} END AS x FROM t",
    "SELECT IF(b, {0}, {1}) AS x FROM t",
    "SELECT COALESCE({0}, {1}) AS x FROM t",
    "SELECT {0} AS x FROM t UNION ALL SELECT {1} AS x FROM t",
    "SELECT {0} = {1} AS x FROM t",
    "SELECT {0} < {1} AS x FROM t",
    "SELECT {0} IN ({1}) AS x FROM t",
    "SELECT {0} + {1} AS x FROM t",
    "SELECT {0} / {1} AS x FROM t",
)
