"""Inputs for the CSV and JSON formats; what real Flink makes of them is in ``flink_formats.json``, recorded by ``record_formats.py``.

Plain data and functions of ``Types``, because PyFlink and Wiesel both run it.
"""

from __future__ import annotations

from typing import Any

BASIC = ("i", "l", "s", "d", "b")
CSV = ("i", "s", "d", "b")


def row_types(types: Any) -> dict[str, Any]:
    t = types
    return {
        "basic": t.ROW_NAMED(list(BASIC), [t.INT(), t.LONG(), t.STRING(), t.DOUBLE(), t.BOOLEAN()]),
        "csv": t.ROW_NAMED(list(CSV), [t.INT(), t.STRING(), t.DOUBLE(), t.BOOLEAN()]),
        "nested": t.ROW_NAMED(["a", "r"], [t.OBJECT_ARRAY(t.STRING()), t.ROW([t.INT(), t.STRING()])]),
        "wide": t.ROW_NAMED(
            ["date", "time", "ts", "dec", "bi", "arr", "lst", "map", "row", "fl", "by", "sh", "ch"],
            [
                t.SQL_DATE(),
                t.SQL_TIME(),
                t.SQL_TIMESTAMP(),
                t.BIG_DEC(),
                t.BIG_INT(),
                t.OBJECT_ARRAY(t.INT()),
                t.LIST(t.STRING()),
                t.MAP(t.STRING(), t.INT()),
                t.ROW_NAMED(["x"], [t.INT()]),
                t.FLOAT(),
                t.PRIMITIVE_ARRAY(t.BYTE()),
                t.SHORT(),
                t.BYTE(),
            ],
        ),
        "times": t.ROW_NAMED(
            ["date", "time", "ts", "dec", "bi", "fl", "by", "l"],
            [t.SQL_DATE(), t.SQL_TIME(), t.SQL_TIMESTAMP(), t.BIG_DEC(), t.BIG_INT(), t.FLOAT(), t.PRIMITIVE_ARRAY(t.BYTE()), t.LONG()],
        ),
    }


WIDE = (
    '{"date":"2020-01-02","time":"03:04:05Z","ts":"2020-01-02T03:04:05.678Z","dec":"1.230","bi":123456789012345678901,'
    '"arr":[1,null,3],"lst":["a",null],"map":{"k":1,"n":null},"row":{"x":1},"fl":1.1,"by":"AP9hYg==","sh":3,"ch":4}'
)

JSON_READ: list[tuple[str, list[str], str]] = [
    *(
        ("basic", [], text)
        for text in (
            '{"i":1,"l":2,"s":"x","d":1.5,"b":true}',
            '{"i":"1","l":"2","s":3,"d":"1.5","b":"true"}',
            '{"i":1}',
            "{}",
            "[]",
            "not json",
            "",
            "null",
            '{"i":1.7,"d":1}',
            '{"i":"abc"}',
            '{"i":99999999999}',
            '{"i":null,"b":"x"}',
            '{"s":{"a":1}}',
            '{"s":[1,2]}',
            '{"i":true}',
            '{"d":"NaN"}',
            '{"i":1} trailing',
            '  \n{"i":1}',
            '{"s":1.50}',
            '{"s":true}',
            '{"i":1,"i":2}',
            '{"d":NaN}',
            "{'i':1}",
            '{"b":1}',
            '{"b":0}',
            '{"s":"\\u00e9\\ud83d\\ude00"}',
        )
    ),
    ("basic", ["fail_on_missing_field"], '{"i":1}'),
    ("basic", ["fail_on_missing_field"], '{"i":1,"l":2,"s":null,"d":1.5,"b":true,"more":1}'),
    *(("basic", ["ignore_parse_errors"], text) for text in ("not json", '{"i":"abc","l":3}', "", '{"i":1}', "[1]")),
    *(
        ("wide", [], text)
        for text in (
            WIDE,
            '{"time":"03:04:05"}',
            '{"ts":"2020-01-02 03:04:05"}',
            '{"ts":"2020-01-02T03:04:05"}',
            '{"ts":"2020-01-02T03:04:05Z"}',
            '{"date":18262}',
            '{"dec":"1.50"}',
            '{"dec":1.230}',
            '{"arr":5}',
            '{"row":5}',
            '{"map":[1]}',
            '{"row":null}',
            '{"fl":"1.1"}',
            '{"time":"03:04:05.123Z"}',
            '{"ts":"2020-01-02T03:04:05+01:00"}',
        )
    ),
]
"""(row type, options, message)"""

JSON_WRITE: list[tuple[str, str]] = [
    *(
        ("basic", f'{{"i":1,"l":2,"s":"x","d":{d},"b":true}}')
        for d in ("1.0", "1e20", "1.5e-7", '"NaN"', '"Infinity"', "123456789.0", "0.001", "1e7", "12345678.9", "0.1")
    ),
    ("basic", '{"i":1,"s":"a\\"\\u00fc\\n/\\\\\\u2028\\u0001\\u001f\\u007f\\ud83d\\ude00","b":false}'),
    ("basic", "{}"),
    ("wide", WIDE),
    ("wide", '{"ts":"2020-01-02T03:04:05Z","dec":"1E+3","fl":1e10}'),
    *(("wide", f'{{"dec":"{dec}"}}') for dec in ("100.00", "0.00", "1E-9", "12345678901234567890123456789012345.6780")),
    ("nested", '{"a":["x","y"],"r":{"f0":1,"f1":"q"}}'),
]
"""(row type, JSON of the row)"""

CSV_WRITE: list[tuple[str, dict[str, str], str]] = [
    *(
        ("csv", {}, text)
        for text in (
            '{"i":1,"s":"a","d":1.5,"b":true}',
            "{}",
            '{"i":1,"s":"a,\\"b","d":1e20,"b":false}',
            '{"i":1,"s":"","d":1.0,"b":false}',
            *(
                f'{{"i":1,"s":"{s}","d":0.1,"b":true}}'
                for s in (" x ", "a\\nb", "a;b", "\\u00fc'", "#c", "a b", "1-2.3_4", "-", "a\\\\b", "x" * 24, "x" * 25,
                          "a+b=c/d(e)", "~", "a.b")
            ),
        )
    ),
    *(
        (
            "csv",
            {
                "set_field_delimiter": ";",
                "set_line_delimiter": "\r\n",
                "set_null_literal": "NULL",
                "set_quote_character": "'",
                "set_escape_character": "\\",
            },
            text,
        )
        for text in (
            '{"i":1,"s":"a","d":1.5,"b":true}',
            "{}",
            '{"i":1,"s":"a;\'b","d":1e20,"b":false}',
            '{"i":1,"s":"a\\\\b","d":1e20,"b":false}',
            '{"i":1,"s":"NULL","d":1e20,"b":false}',
        )
    ),
    ("csv", {"disable_quote_character": ""}, '{"i":1,"s":"a,\\"b","d":1.0,"b":true}'),
    *(("times", {}, f'{{"dec":"{dec}"}}') for dec in ("1.230", "100.00", "0.00", "1E-9", "12345678901234567890123456789012345.6780")),
    *(
        ("nested", {"set_array_element_delimiter": d}, text)
        for d in (";", "|")
        for text in (
            '{"a":["x","y"],"r":{"f0":1,"f1":"q"}}',
            '{"a":["x;","|y"],"r":{"f0":null,"f1":"q"}}',
            '{"a":[],"r":null}',
            '{"a":null}',
            '{"a":["x",null],"r":{"f0":1,"f1":null}}',
        )
    ),
    (
        "times",
        {},
        '{"date":"2020-01-02","time":"03:04:05Z","ts":"2020-01-02T03:04:05.678Z","dec":"1.230","bi":123456789012345678901,"fl":1.1,'
        '"by":"AP9hYg==","l":5}',
    ),
]
"""(row type, calls of the builder, JSON of the row)"""

CSV_READ: list[tuple[str, dict[str, Any], str]] = [
    *(
        ("csv", {}, text)
        for text in (
            "1,a,1.5,true",
            "1,a,1.5,true\n",
            "1,a,1.5,true\r\n",
            "1,a",
            "1,a,1.5,true,extra",
            "x,a,1,true",
            ",,,",
            '1,"a,""b",1,false',
            " 1 , a , 1.5 , true ",
            "",
            "1,null,1,yes",
            '1,"a\nb",1,TRUE',
            "#c,1,2,3",
            '1,"a"x,1,true',
            '1,"unclosed,1,true',
            "1.0,a,1,true",
            "1_0,a,1,true",
            "1,a,1_0,true",
            "1,a,NaN,true",
            "1,a,nan,true",
            "1,a,inf,true",
            "1,a,Infinity,true",
            "1,a,1d,true",
            "1,a,1e3,true",
            '1,"",1,true',
            "1,a,1,1",
            "99999999999,a,1,true",
            "+1,a,.5,true",
            "1,a,1,true\n2,b,2,false",
        )
    ),
    *(
        (
            "csv",
            {"set_ignore_parse_errors": True, "set_null_literal": "n/a", "set_allow_comments": True, "set_field_delimiter": "|"},
            text,
        )
        for text in ("x|a|1|true", "1|n/a|n/a|n/a", "#comment", "1|a", "1|a|1|true|z", "1||1|true")
    ),
    *(("nested", {}, text) for text in ("x;y,1;q", ",", "x,1;q", ";,1;q")),
    ("times", {}, '2020-01-02,03:04:05,"2020-01-02 03:04:05.678",1.230,123456789012345678901,1.1,AP9hYg==,5'),
]
"""(row type, calls of the builder, message)"""

JSON_SCHEMAS = [
    '{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string"},"n":{"type":"number"},'
    '"ar":{"type":"array","items":{"type":"string"}},"o":{"type":"object","properties":{"x":{"type":"boolean"}}},'
    '"dt":{"type":"string","format":"date"},"tt":{"type":"string","format":"time"},"ts":{"type":"string","format":"date-time"},'
    '"by":{"type":"string","contentEncoding":"base64"},"u":{"type":["string","null"]},'
    '"tup":{"type":"array","items":[{"type":"string"},{"type":"number"}]}}}',
    '{"definitions":{"p":{"type":"object","properties":{"x":{"type":"number"}}}},"type":"object",'
    '"properties":{"one":{"$ref":"#/definitions/p"},"many":{"type":"array","items":{"$ref":"#/definitions/p"}}}}',
]

FILE_SCHEMA: list[list[Any]] = [
    ["add_number_column", "i", "INT"],
    ["add_string_column", "s"],
    ["add_number_column", "d", "DOUBLE"],
    ["add_boolean_column", "b"],
]

CSV_FILES: list[tuple[list[list[Any]], str]] = [
    *(
        (FILE_SCHEMA, text)
        for text in (
            "1,a,1.5,true\n2,b,2,false\n",
            "1,a,1.5,true",
            "1,a\n",
            "1,a,1.5,true,z\n",
            ",,,\n",
            "\n1,a,1,true\n",
            "1,a,1,true\n\n2,b,1,true\n",
            " 1 , a , 1.5 , true \n",
            "1,a,1,true\nx,a,1,true\n",
            '1,"a,""b\nc",1,true\n2,b,2,false\n',
            '1,"a"x,1,true\n',
            '1,a"q"b,1,true\n',
            '1,"un',
            "1,a,1,yes\n",
            "1.7,a,1,TRUE\n",
            "99999999999,a,1,true\n",
            "1,null,1,true\r\n2,b,3,true\r3,c,4,true\n",
            "#c\n1,a,1,true\n",
            '1, "a" ,1,true\n',
            "1,a,NaN,true\n",
            "\ufeff1,a,1,true\n",
            '1,"",1,true\n',
            "1,a,1,\n",
            "+1,a,-1,true\n",
            "01,a,.5,true\n",
        )
    ),
    *(
        (FILE_SCHEMA + settings, text)
        for settings in (
            [["set_use_header"]],
            [["set_use_header"], ["set_strict_headers"]],
            [["set_skip_first_data_row"]],
        )
        for text in (
            "i,s,d,b\n1,a,1,true\n",
            "s,i,d,b\n1,a,1,true\n",
            "i,s,d\n1,a,1,true\n",
            "i,s,d,b,e\n1,a,1,true\n",
            ' i ,"s",d,b\n1,a,1,true\n',
        )
    ),
    ([*FILE_SCHEMA, ["set_allow_comments"]], "#c\n1,a,1,true\n  #d\n2,#b,2,true\n"),
    *(([*FILE_SCHEMA, ["set_null_value", "NA"]], text) for text in ("1,NA,NA,NA\n", '1,"NA",1,true\n', "NA,,,\n")),
    (
        [*FILE_SCHEMA, ["set_quote_char", "'"], ["set_column_separator", "|"], ["set_escape_char", "\\"]],
        "1|'a|b'|1|true\n2|'a\\'b'|1|true\n3|a\\|b|1|true\n4|'a''b'|1|true\n5|a\\nb|1|true\n6|'a\\nb'|1|true\n7|a\\\\b|1|true\n",
    ),
    ([*FILE_SCHEMA, ["disable_quote_char"]], '1,"a",1,true\n'),
    ([*FILE_SCHEMA, ["disable_quote_char"]], '1,"a,b",1,true\n'),
    *(
        ([["add_number_column", "i"], ["add_array_column", "a", ";", "INT"], ["add_array_column", "z", "#", "STRING"]], text)
        for text in ("1,1;2;3,x#y\n", "1,,\n", "1,1; 2,a #b\n", "1,x,\n", "1,1;;2,#\n", '1,"1;2","x#,y"\n')
    ),
]
"""(calls of the builder of the schema, contents of the file)"""

_WRITTEN_SCHEMA = [*FILE_SCHEMA, ["add_array_column", "z", ";", "STRING"]]
_WRITTEN_ROWS: list[list[Any]] = [
    [1, "a", 1.5, True, ["p", "q"]],
    [None, None, None, None, None],
    [2, 'x,"y', 1e20, False, []],
    [3, "", 0.5, True, ["a;b", None]],
    [4, "a b", 0.5, True, ["a,b"]],
]

CSV_BULK: list[tuple[list[list[Any]], list[list[Any]]]] = [
    (_WRITTEN_SCHEMA + settings, _WRITTEN_ROWS)
    for settings in (
        [],
        [["set_use_header"]],
        [["set_null_value", "NULL"]],
        [["set_column_separator", "|"], ["set_quote_char", "'"], ["set_escape_char", "\\"]],
        [["disable_quote_char"]],
        [["set_line_separator", "\r\n"]],
    )
]
"""(calls of the builder of the schema, rows)"""

CSV_DECIMALS = [
    *("1.005", "1", "-0.005", "0", "0.00", "100", "1200.50", "123456.789", "999999.995", "999999.994", "1e3", "12345678", "1e-9", "-7.10"),
]
"""texts in a column of DECIMAL(8, 2)"""
