"""Records which functions real Flink has: ``goldens/sql_function_names.json`` and ``goldens/sql_operators.json``.

The first file has the definitions that the Table API shares, by kind the names that they are called by in SQL. The second one has the
planner's whole table of operators and functions: names, kinds, how they are written, and the signatures that it takes; and of the
definitions how many arguments they take, by name where they have names. ``sql_signatures.txt`` has a call of each function for each of its
signatures, over the columns of ``sql_samples.py``; ``record_sql_expressions.py sql_signatures`` records what they return.

Run it with the interpreter of a virtual environment that holds real PyFlink 2.3 and a JDK 17 on the path.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

ARGUMENTS = {
    "ANY": ("i", "s"),
    "ANY_TYPE": ("b",),
    "APPROXIMATE_NUMERIC": ("d",),
    "ARRAY": ("arr",),
    "BOOLEAN": ("b",),
    "CHARACTER": ("s",),
    "DATE": ("dt",),
    "DATETIME": ("ts",),
    "DATETIME_INTERVAL": ("INTERVAL '1' DAY",),
    "EXACT_NUMERIC": ("i", "p"),
    "INTEGER": ("2",),
    "MAP": ("m",),
    "NUMERIC": ("i", "d", "p"),
    "NUMERIC_TYPE": ("i", "d"),
    "STRING": ("s",),
    "TIME": ("tm",),
    "TIMESTAMP": ("ts",),
}
"""By how signatures call an argument the columns that stand for it in turn."""

NOT_CALLED = re.compile(
    r"RAND|UUID|NOW|CURRENT|LOCALTIME|UNIX_TIMESTAMP|PROCTIME|MATCH_|STREAMRECORD|AUXILIARY|PRINT|"
    r"(TUMBLE|HOP|SESSION)_|GROUP|DESCRIPTOR|TIMESTAMP(ADD|DIFF)|REPEAT|LPAD|RPAD|HEX$"
)
"""Functions whose values change, that stand within certain clauses only, or take a word; REPEAT and its like make long texts here."""

FURTHER = (
    "HASH_CODE(ti)",
    "HASH_CODE(l)",
    "HASH_CODE(f)",
    "HASH_CODE(q)",
    "HASH_CODE(v)",
    "HASH_CODE(t6)",
    "HASH_CODE('häß€')",
    "HASH_CODE(CAST(l AS DECIMAL(38, 10)))",
    "IS_DECIMAL(f)",
    "IS_DECIMAL(CAST(i AS DECIMAL(5, 0)))",
    "IS_DIGIT(l)",
    "IS_ALPHA(b)",
    "IS_DIGIT(dt)",
    "TRANSLATE3(s, 'lo', 'x')",
    "POSITION('l' IN s FROM 5)",
    "POSITION('l' IN s FROM n)",
)
"""Calls with types and forms that the signatures do not tell apart."""


def operators() -> list[dict[str, Any]]:
    """Return the operators and functions of the planner."""
    from pyflink.java_gateway import get_gateway
    from pyflink.table import EnvironmentSettings, TableEnvironment

    gateway = get_gateway()
    java = gateway.jvm.java.lang

    def invoke(target: Any, name: str) -> Any:
        method = target.getClass().getMethod(name, gateway.new_array(java.Class, 0))
        method.setAccessible(True)
        return method.invoke(target, gateway.new_array(java.Object, 0))

    # The planner has a class loader of its own.
    planner = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())._j_tenv.getPlanner()
    table = planner.getClass().getClassLoader().loadClass("org.apache.flink.table.planner.functions.sql.FlinkSqlOperatorTable")
    types, given = gateway.new_array(java.Class, 1), gateway.new_array(java.Object, 1)
    types[0], given[0] = java.Boolean.TYPE, False
    found = []
    for operator in invoke(table.getMethod("instance", types).invoke(None, given), "getOperatorList"):
        try:
            signatures = str(invoke(operator, "getAllowedSignatures") or "")
        except Exception:  # noqa: BLE001 - CAST and its like have none
            signatures = ""
        shown = [line.strip("'") for line in signatures.split("\n") if line]
        kind, syntax = invoke(operator, "getKind").toString(), invoke(operator, "getSyntax").toString()
        found.append({"name": invoke(operator, "getName"), "kind": kind, "syntax": syntax, "signatures": shown})
    return found


def definitions() -> list[dict[str, Any]]:
    """Return the definitions that SQL and the Table API share."""
    from pyflink.java_gateway import get_gateway

    found = []
    for definition in get_gateway().jvm.org.apache.flink.table.functions.BuiltInFunctionDefinitions.getDefinitions():
        if definition.isInternal():
            continue
        entry = {"name": definition.getSqlName(), "kind": definition.getKind().name()}
        try:
            inference = definition.getTypeInference(None)
            count = inference.getInputTypeStrategy().getArgumentCount()
            named = inference.getStaticArguments()
            entry["arguments"] = [_value(count.getMinCount()), _value(count.getMaxCount())]
            if named.isPresent():
                entry["named"] = [argument.toString() for argument in named.get()]
        except Exception:  # noqa: BLE001 - what the planner alone handles has no inference
            entry["arguments"] = None
        found.append(entry)
    return found


def _value(optional: Any) -> int | None:
    return optional.get() if optional.isPresent() else None


def calls(found: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a call for each signature of each function, with columns of the types that it names."""
    for operator in found:
        if operator["kind"] != "OTHER_FUNCTION" or operator["syntax"] != "FUNCTION" or NOT_CALLED.search(operator["name"]):
            continue
        for signature in operator["signatures"]:
            written = re.fullmatch(r"(\w+)\((.*)\)", signature)
            kinds = re.findall(r"<(\w+)>", written[2]) if written else []
            if written is None or re.sub(r"<\w+>|, ", "", written[2]) or any(kind not in ARGUMENTS for kind in kinds):
                continue
            for turn in range(max([len(ARGUMENTS[kind]) for kind in kinds], default=1)):
                yield f"{written[1]}({', '.join(ARGUMENTS[kind][turn % len(ARGUMENTS[kind])] for kind in kinds)})"


def main() -> None:
    """Record them."""
    defined, found = definitions(), operators()
    kinds: dict[str, set[str]] = {}
    for definition in defined:
        kinds.setdefault(definition["kind"], set()).add(definition["name"])
    names = {kind: sorted(names) for kind, names in sorted(kinds.items())}
    (HERE / "goldens" / "sql_function_names.json").write_text(json.dumps(names, indent=1) + "\n")
    lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in found)
    others = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in defined)
    (HERE / "goldens" / "sql_operators.json").write_text(f'{{"operators": [\n{lines}\n],\n"definitions": [\n{others}\n]}}\n')
    (HERE / "sql_signatures.txt").write_text("".join(f"{call}\n" for call in dict.fromkeys([*calls(found), *FURTHER])))


if __name__ == "__main__":
    main()
