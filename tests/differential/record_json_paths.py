"""Records what real Flink finds at random paths in texts of JSON: ``goldens/json_paths.json``.

Run it with the interpreter of a virtual environment that holds real PyFlink 2.3 and a JDK 17 on the path. Called are the methods of
Flink's runtime that its generated code calls, so that no query has to be planned for each path. Recorded are calls of SQL with the text
and the path between braces, and for each pair what they return, one after the other.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parent / "goldens" / "json_paths.json"
SEED, COUNT = 7, 1500

DOCUMENTS = (
    '{"a": 1, "b": {"c": [1, 2, 3], "d e": "x"}, "n": null}',
    '{"a": [{"b": 1, "c": "x"}, {"b": 2.50, "c": "y"}, {"c": null}], "b": true}',
    '[1, "two", 3.0, null, [4, 5], {"a": {"b": 6}}]',
    "[[1, 2], [3], []]",
    '{"a": {"a": {"a": "deep"}}, "b": [], "": 0, "a.b": "dot"}',
    '"text"',
    "12",
    "null",
    "{}",
    "[]",
    "",
    "no json",
    '{"a": 1',
)
STEPS = (
    *".a .a .a .b .b .c .n .x .* ..a ..b ..* [0] [0] [0] [1] [5] [-1] [-1] [-9] [*] [*] [0,1] [0,9] [:2] [1:] [0:2] [-2:] [:-1]".split(),
    *("['a']", "['b']", '["a"]', "['a.b']", "['d e']", "['a','b']", "['a', 'x']", "[1:9]", "[-2:-1]", "..[0]"),
    *("[?(@.b)]", "[?(@.b>1)]", "[?(@.c=='x')]", "[?(@>1)]"),
    *("[?(@.b <= 1 || @.c == 'y')]", "[?(@.b && @.c)]", "[?(@.c =~ /X/i)]", "[?(@.c == null)]", "[?(@.b != 1)]", "[?(@.c != 'x')]"),
)
CALLS = {
    "JSON_EXISTS({} UNKNOWN ON ERROR)": ("jsonExists", "UNKNOWN"),
    "JSON_VALUE({} DEFAULT 'empty' ON EMPTY DEFAULT 'error' ON ERROR)": ("jsonValue", "DEFAULT"),
    "JSON_QUERY({} EMPTY ARRAY ON EMPTY EMPTY OBJECT ON ERROR)": ("jsonQuery", "WITHOUT_ARRAY"),
    "JSON_QUERY({} WITH WRAPPER EMPTY ARRAY ON EMPTY EMPTY OBJECT ON ERROR)": ("jsonQuery", "UNCONDITIONAL_ARRAY"),
    "JSON_QUERY({} WITH CONDITIONAL WRAPPER EMPTY ARRAY ON EMPTY EMPTY OBJECT ON ERROR)": ("jsonQuery", "CONDITIONAL_ARRAY"),
}


def pairs() -> list[tuple[str, str]]:
    """Return different random texts with paths into them."""
    chance = random.Random(SEED)
    found: dict[tuple[str, str], None] = {}
    while len(found) < COUNT:
        steps = "".join(chance.choice(STEPS) for _ in range(chance.choice((0, 1, 1, 1, 2, 2, 3))))
        mode = chance.choice(("", "lax ", "lax ", "strict ", "STRICT  "))
        found[chance.choice(DOCUMENTS), f"{mode}${steps}"] = None
    return list(found)


def main() -> None:
    """Record all."""
    from pyflink.java_gateway import get_gateway

    jvm = get_gateway().jvm
    api, utils = jvm.org.apache.flink.table.api, jvm.org.apache.flink.table.runtime.functions.SqlJsonUtils
    loader = jvm.Thread.currentThread().getContextClassLoader()
    kinds = loader.loadClass("org.apache.flink.table.runtime.functions.SqlJsonUtils$JsonQueryReturnType").getEnumConstants()
    text_kind = next(kind for kind in kinds if kind.name() == "STRING")

    def called(text: str, path: str, name: str, option: str) -> Any:
        if name == "jsonExists":
            return utils.jsonExists(text, path, getattr(api.JsonExistsOnError, option))
        if name == "jsonValue":
            default = api.JsonValueOnEmptyOrError.DEFAULT
            value = utils.jsonValue(text, path, default, "empty", default, "error")
            return str(value).lower() if isinstance(value, bool) else value
        on = api.JsonQueryOnEmptyOrError
        return utils.jsonQuery(text, path, text_kind, getattr(api.JsonQueryWrapper, option), on.EMPTY_ARRAY, on.EMPTY_OBJECT)

    def shown(value: Any) -> Any:
        return value if value is None or isinstance(value, str | bool) else value.toString() if hasattr(value, "toString") else str(value)

    def row(text: str, path: str) -> list[Any]:
        try:
            return [text, path, [shown(called(text, path, *each)) for each in CALLS.values()]]
        except Exception as error:  # noqa: BLE001 - a class that Flink does not have makes it fail altogether
            return [text, path, {"fails": str(error.java_exception.toString())}]  # type: ignore[attr-defined]

    rows = [row(text, path) for text, path in pairs()]
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    TARGET.write_text(f'{{"calls": {json.dumps(list(CALLS))},\n"rows": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
