"""The table over which the expressions of ``sql_expressions.txt`` are evaluated: its columns, and rows as lines of JSON."""

from __future__ import annotations

COLUMNS = {
    "n": "INT NOT NULL",
    "ti": "TINYINT",
    "si": "SMALLINT",
    "i": "INT",
    "l": "BIGINT",
    "f": "FLOAT",
    "d": "DOUBLE",
    "p": "DECIMAL(10, 2)",
    "q": "DECIMAL(20, 5)",
    "b": "BOOLEAN",
    "s": "STRING",
    "v": "VARCHAR(5)",
    "dt": "DATE",
    "tm": "TIME(0)",
    "ts": "TIMESTAMP(3)",
    "t6": "TIMESTAMP(6)",
    "tz": "TIMESTAMP_LTZ(3)",
    "bin": "BYTES",
    "arr": "ARRAY<INT>",
    "m": "MAP<STRING, INT>",
    "r": "ROW<x INT, y STRING>",
}

ROWS = (
    '{"n": 1, "ti": 1, "si": 2, "i": 3, "l": 4, "f": 1.5, "d": 2.5, "p": 12.34, "q": 1.23456, "b": true, "s": "Hello World", "v": "abc", '
    '"dt": "2020-02-29", "tm": "10:20:30", "ts": "2020-02-29 10:20:30.456", "t6": "2020-02-29 10:20:30.456789", '
    '"tz": "2020-02-29 10:20:30.456Z", "bin": "aGVsbG8=", "arr": [1, 2, 3], "m": {"a": 1, "b": 2}, "r": {"x": 1, "y": "z"}}',
    '{"n": 2, "ti": null, "si": null, "i": null, "l": null, "f": null, "d": null, "p": null, "q": null, "b": null, "s": null, "v": null, '
    '"dt": null, "tm": null, "ts": null, "t6": null, "tz": null, "bin": null, "arr": null, "m": null, "r": null}',
    '{"n": 3, "ti": 127, "si": 32767, "i": 2147483647, "l": 9223372036854775807, "f": 3.4e38, "d": 1.7e308, "p": 99999999.99, '
    '"q": 999999999999999.99999, "b": false, "s": "", "v": "", "dt": "1970-01-01", "tm": "00:00:00", "ts": "1970-01-01 00:00:00.000", '
    '"t6": "1970-01-01 00:00:00.000000", "tz": "1970-01-01 00:00:00.000Z", "bin": "", "arr": [], "m": {}, "r": {"x": null, "y": null}}',
    '{"n": 4, "ti": -128, "si": -32768, "i": -2147483648, "l": -9223372036854775808, "f": -0.0, "d": -1.0e-5, "p": -0.01, "q": -7.50000, '
    '"b": true, "s": "  Straße 10 äÖü ", "v": "xyzzy", "dt": "1999-12-31", "tm": "23:59:59", "ts": "1999-12-31 23:59:59.999", '
    '"t6": "1999-12-31 23:59:59.999999", "tz": "1999-12-31 23:59:59.999Z", "bin": "AP8Q", "arr": [null, 5], "m": {"k": null}, '
    '"r": {"x": 7, "y": null}}',
    '{"n": 5, "ti": 0, "si": 0, "i": 0, "l": 0, "f": 0.0, "d": 0.0, "p": 0.00, "q": 0.00000, "b": false, "s": "12", "v": "-7.5", '
    '"dt": "2024-01-01", "tm": "12:00:00", "ts": "2024-01-01 12:00:00.500", "t6": "2024-01-01 12:00:00.500000", '
    '"tz": "2024-01-01 12:00:00.500Z", "bin": "MTI=", "arr": [3, 1, 2, 3], "m": {"a": 10}, "r": {"x": 0, "y": "12"}}',
)

ZONES = {
    "sql_expressions": "UTC",
    "sql_functions": "UTC",
    "sql_edge_cases": "UTC",
    "sql_mixed_expressions": "UTC",
    "sql_random_expressions": "UTC",
    "sql_objects": "UTC",
    "sql_signatures": "UTC",
    "sql_text_comparisons": "UTC",
    "sql_variants": "UTC",
    "sql_zoned_expressions": "America/New_York",
}
"""Files of expressions, and in which time zone of the session they are evaluated."""
