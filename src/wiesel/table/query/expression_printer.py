"""Internal. Expressions as Flink shows them: ``plus(a, 1)``."""

from __future__ import annotations

import decimal
from collections.abc import Callable, Iterable
from typing import Any

from sqlglot import exp

from wiesel.columnar.expressions import Literal
from wiesel.sql.language import nodes
from wiesel.sql.language.built_nodes import BuiltIn, FieldAt, OverAlias, Plus, Stand, Text, UserCall, WindowProperty

__all__ = ["JAVA_OPERATORS", "expression_text", "named_call"]

_OPERATORS: dict[type[exp.Expr], str] = {
    exp.Add: "plus",
    Plus: "plus",
    exp.Sub: "minus",
    exp.Mul: "times",
    exp.Div: "divide",
    exp.Mod: "mod",
    exp.EQ: "equals",
    exp.NEQ: "notEquals",
    exp.LT: "lessThan",
    exp.LTE: "lessThanOrEqual",
    exp.GT: "greaterThan",
    exp.GTE: "greaterThanOrEqual",
    exp.And: "and",
    exp.Or: "or",
}
JAVA_OPERATORS = {name.upper(): kind for kind, name in _OPERATORS.items() if kind is not exp.Add}
"""The operators that ``call()`` finds by their names in Java."""
# Flink's older functions have names of Java, those that came later the ones of SQL.
_LOWER = (
    "ABS ACOS ARRAY ASCII ASIN ATAN ATAN2 BIN CARDINALITY CAST CEIL CHR CONCAT CONCAT_WS COS COSH COT DECODE DEGREES E ELEMENT ENCODE EXP"
    " FLATTEN FLOOR HEX INSTR LAG LEAD LEFT LN LOCATE LOG LOG10 LOG2 LOWER LPAD LTRIM MAP MD5 OVERLAY PI POSITION POWER RADIANS RAND REGEXP"
    " REPEAT REPLACE REVERSE RIGHT ROUND ROW RPAD RTRIM SHA1 SHA2 SHA224 SHA256 SHA384 SHA512 SIGN SIN SINH SQRT SUBSTRING TAN TANH"
    " TRUNCATE UPPER UUID AVG COLLECT COUNT FIRST_VALUE LAST_VALUE MAX MIN SUM SUM0"
).split()
_NAMES = {
    **{name: name.lower() for name in _LOWER},
    "CHAR_LENGTH": "charLength",
    "CONVERT_TZ": "convertTz",
    "CURRENT_DATABASE": "currentDatabase",
    "CURRENT_DATE": "currentDate",
    "CURRENT_TIME": "currentTime",
    "CURRENT_TIMESTAMP": "currentTimestamp",
    "DATE_FORMAT": "dateFormat",
    "FROM_BASE64": "fromBase64",
    "FROM_UNIXTIME": "fromUnixtime",
    "INITCAP": "initCap",
    "IS FALSE": "isFalse",
    "IS JSON": "IS_JSON",
    "IS NOT FALSE": "isNotFalse",
    "IS NOT NULL": "isNotNull",
    "IS NOT TRUE": "isNotTrue",
    "IS NULL": "isNull",
    "IS TRUE": "isTrue",
    "ITEM": "at",
    "LISTAGG": "listAgg",
    "LOCALTIME": "localTime",
    "LOCALTIMESTAMP": "localTimestamp",
    "NEGATE": "minusPrefix",
    "PARSE_URL": "parseUrl",
    "RAND_INTEGER": "randInteger",
    "RANGE": "rangeTo",
    "REGEXP_EXTRACT": "regexpExtract",
    "REGEXP_REPLACE": "regexpReplace",
    "SIMILAR TO": "similar",
    "SPLIT_INDEX": "splitIndex",
    "STDDEV_POP": "stddevPop",
    "STDDEV_SAMP": "stddevSamp",
    "STR_TO_MAP": "strToMap",
    "TO_BASE64": "toBase64",
    "TO_DATE": "toDate",
    "TO_TIMESTAMP": "toTimestamp",
    "TRANSLATE": "TRANSLATE3",
    "UNIX_TIMESTAMP": "unixTimestamp",
    "VAR_POP": "varPop",
    "VAR_SAMP": "varSamp",
    "WITHOUT_COLUMNS": "withoutColumns",
    "WITH_COLUMNS": "withColumns",
}
_NOT_REPLACED = frozenset("CAST TRY_CAST FLATTEN RANGE ROW_INTERVAL WITHOUT_COLUMNS WITH_COLUMNS".split())
_TRIMMED = {"LEADING": "true, false", "TRAILING": "false, true", "BOTH": "true, true"}


def named_call(node: Any) -> tuple[str, list[exp.Expr]] | None:
    """Return the name of the function that an operator or call is in Flink, and its operands; None for what cannot be replaced by name."""
    operator = _OPERATORS.get(type(node))
    if operator is not None:
        return operator, list(node.meta.get("operands") or (node.this, node.expression))
    if isinstance(node, exp.Between):
        return "between", [node.this, node.args["low"], node.args["high"]]
    if isinstance(node, exp.Not) and isinstance(node.this, exp.Between):
        return "notBetween", [node.this.this, node.this.args["low"], node.this.args["high"]]
    if isinstance(node, exp.In) and node.expressions:
        return "in", [node.this, *node.expressions]
    if isinstance(node, exp.Case):
        (branch,) = node.args["ifs"]
        return "ifThenElse", [branch.this, branch.args["true"], node.args["default"]]
    if not isinstance(node, BuiltIn) or node.name in _NOT_REPLACED:
        return None
    if node.name == "TRIM":
        sides = [exp.Boolean(this=word == "true") for word in _TRIMMED[node.options[0]].split(", ")]
        return "trim", [*sides, *reversed(node.expressions)]
    return None if node.options else (node.meta.get("java_name") or _NAMES.get(node.name, node.name), list(node.expressions))


def expression_text(node: Any) -> str:
    """Return an expression as Flink's ``toString()`` does: functions by their names in Java, operands in parentheses."""
    write = _WRITTEN.get(type(node))
    if write is not None:
        return write(node)
    operator = _OPERATORS.get(type(node))
    if operator is not None:
        return _call(operator, node.meta.get("operands") or (node.this, node.expression))
    name = node.name if isinstance(node.this, str) and node.this else type(node).__name__.upper()
    parts = node.expressions or [part for part in node.args.values() if isinstance(part, exp.Expr)]
    return _call(_NAMES.get(name, name), parts)


def _call(name: str, operands: Iterable[Any]) -> str:
    return f"{name}({', '.join(each if isinstance(each, str) else expression_text(each) for each in operands)})"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _constant(node: Stand) -> str:
    bound = node.bound
    if not isinstance(bound, Literal):
        return str(bound) if hasattr(bound, "data_type") else "a table"
    if bound.value is None or isinstance(bound.value, bool):
        return "null" if bound.value is None else str(bound.value).lower()
    if isinstance(bound.value, str):
        return _quoted(bound.value)
    return f"{bound.value:f}" if isinstance(bound.value, decimal.Decimal) else str(bound.value)


def _built_in(node: BuiltIn) -> str:
    name, operands = node.name, [expression_text(operand) for operand in node.expressions]
    options = [getattr(each, "as_summary_string", lambda each=each: str(each))() for each in node.options]
    if name == "TRIM":
        return _call("trim", [_TRIMMED[options[0]], *reversed(operands)])
    if name in ("EXTRACT", "TIMESTAMPDIFF"):
        return _call("extract" if name == "EXTRACT" else "timestampDiff", [*options, *operands])
    if name == "IS JSON" and options == ["VALUE"]:
        options = []
    if name == "RANGE":
        operands = [text.strip("'") for text in operands]
    if name == "ROW_INTERVAL":
        return str(node.expressions[0].name)
    name = name.removesuffix(" TO") if name in ("FLOOR TO", "CEIL TO") else name
    return _call(node.meta.get("java_name") or _NAMES.get(name, name), [*operands, *options])


def _named_call(node: Any) -> str:
    """Return an aggregate, or a call by name."""
    if len(node.expressions) == 1 and isinstance(node.expressions[0], exp.Distinct):
        return _call("distinct", [_named_call(exp.Anonymous(this=node.this, expressions=node.expressions[0].expressions))])
    operands = list(map(expression_text, node.expressions))
    if node.name == "LISTAGG" and len(operands) == 1:
        operands.append("','")
    return _call(node.name if node.meta.get("by_name") else _NAMES.get(node.name, node.name), operands)


def _json(node: nodes.Call) -> str:
    operands, words = list(map(expression_text, node.expressions)), list(node.args.get("words") or ())
    if node.name == "JSON_EXISTS":
        return _call("JSON_EXISTS", [*operands, *(word.removesuffix(" ON ERROR") for word in words)])
    if node.name == "JSON_QUERY":
        kept = [word.removesuffix(" WRAPPER").removeprefix("WITH ").split(" ON ")[0].replace(" ", "_") for word in words]
        return _call("JSON_QUERY", [*operands, "STRING", *kept])
    if node.name == "JSON_VALUE":
        defaults = list(map(expression_text, node.args.get("defaults") or ()))
        returning = node.args["returning"].meta["data_type"].as_summary_string()
        behaviors = [word.split(" ")[0] for word in words if not word.startswith("ON ")]
        pairs = [part for what in behaviors for part in (what, defaults.pop(0) if what == "DEFAULT" else "null")]
        return _call("JSON_VALUE", [*operands, returning, *pairs])
    if node.name in ("JSON_OBJECTAGG", "JSON_ARRAYAGG"):
        return _call("_".join([node.name, *(word.replace(" ", "_") for word in words)]), operands)
    return _call(node.name, [*(word.split(" ")[0] for word in words), *operands])


def _negated(node: exp.Not) -> str:
    if isinstance(node.this, exp.Between):
        return _call("notBetween", [node.this.this, node.this.args["low"], node.this.args["high"]])
    return _call("not", [node.this])


def _overlaps(node: exp.Overlaps) -> str:
    return _call("temporalOverlaps", [*node.this.expressions, *node.expression.expressions])


def _if_then_else(node: exp.Case) -> str:
    (branch,) = node.args["ifs"]
    return _call("ifThenElse", [branch.this, branch.args["true"], node.args["default"]])


_WRITTEN: dict[type[Any], Callable[[Any], str]] = {
    Stand: _constant,
    BuiltIn: _built_in,
    nodes.Call: _json,
    exp.Anonymous: _named_call,
    UserCall: lambda node: _call(node.name.rpartition(" ")[0], node.expressions),
    exp.Column: lambda node: str(node.name),
    exp.Alias: lambda node: _call("as", [node.this, *map(_quoted, node.meta.get("names") or (node.alias,))]),
    exp.Between: lambda node: _call("between", [node.this, node.args["low"], node.args["high"]]),
    exp.Case: _if_then_else,
    exp.Distinct: lambda node: _call("distinct", node.expressions),
    exp.Dot: lambda node: _call("get", [node.this, _quoted(node.expression.name)]),
    exp.In: lambda node: _call("in", [node.this, *(node.expressions or ["a table"])]),
    exp.Not: _negated,
    exp.Ordered: lambda node: _call("desc" if node.args.get("desc") else "asc", [node.this]),
    exp.Overlaps: _overlaps,
    exp.Var: lambda node: str(node.name),
    FieldAt: lambda node: _call("get", [node.this, str(node.args["place"])]),
    OverAlias: lambda node: _call("over", [node.this, node.args["alias"] if node.meta.get("by_column") else _quoted(node.args["alias"])]),
    Text: lambda node: f"[{node.this}]",
    WindowProperty: lambda node: _call(node.args["kind"].lower(), [node.this]),
}
