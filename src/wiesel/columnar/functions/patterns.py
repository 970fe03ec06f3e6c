"""Internal. LIKE, SIMILAR TO, and the functions of regular expressions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.expressions import Call
from wiesel.columnar.functions.java_regex import compiled, like_pattern, similar_pattern
from wiesel.columnar.functions.kernels import by_value
from wiesel.columnar.functions.registry import ScalarFunction, register
from wiesel.columnar.functions.signatures import INTEGER, TEXT, TEXT_OR_NULL, returning_null, taking
from wiesel.columnar.type_rules import STRING
from wiesel.types import logical as t

__all__: list[str] = []


def _like(call: Call, frame: Any, operands: list[Any]) -> Any:
    text, pattern = operands[:2]
    constant = isinstance(pattern, pa.Scalar) and pattern.is_valid and not isinstance(text, pa.Scalar)
    if len(operands) == 2 and constant:
        found = _simple_like(text, pattern.as_py())
        if found is not None:
            return found
    return by_value(lambda value, like, escape=None: like_pattern(like, escape).fullmatch(value) is not None)(call, frame, operands)


def _simple_like(text: Any, pattern: str) -> Any:
    """Compute by a kernel, where one place of the pattern at most is left open."""
    if "_" in pattern:
        return pc.match_substring_regex(text, "(?s)^" + re.escape(pattern).replace("%", ".*").replace("_", ".") + "$")
    inner = pattern.strip("%")
    if "%" in inner:
        return pc.match_substring_regex(text, "(?s)^" + re.escape(pattern).replace("%", ".*") + "$")
    begins, ends = pattern[:1] == "%", pattern[-1:] == "%"
    if not inner:
        return pc.is_valid(text) if pattern and not text.null_count else pc.equal(text, "") if not pattern else pc.starts_with(text, "")
    if begins and ends:
        return pc.match_substring(text, inner)
    return pc.ends_with(text, inner) if begins else pc.starts_with(text, inner) if ends else pc.equal(text, inner)


def _similar(text: str, pattern: str, escape: str | None = None) -> bool:
    return similar_pattern(pattern, escape).fullmatch(text) is not None


_LIKE = taking(t.BooleanType(), TEXT, TEXT, TEXT, optional=1)
register(ScalarFunction("LIKE", _LIKE, _like, may_fail=lambda call: len(call.operands) > 2))
register(ScalarFunction("SIMILAR TO", _LIKE, by_value(_similar), may_fail=True))


def _register(name: str, result: Any, compute: Callable[..., Any], invalid: Any = None) -> None:
    """Register a function of a text, a regular expression and, maybe, a number; ``invalid`` is the value for what is no expression."""

    def checked(text: str, pattern: str, *rest: Any) -> Any:
        try:
            regex = compiled(pattern)
        except ValueError as error:
            if "not supported" in str(error):
                raise
            return invalid
        return compute(text, regex, *rest)

    kinds = [TEXT_OR_NULL, TEXT_OR_NULL]
    register(ScalarFunction(name, taking(result, *kinds, INTEGER, optional=1), by_value(checked), may_fail=True))


def _extract(text: str, regex: re.Pattern[str], group: int = 0) -> str | None:
    found = regex.search(text)
    return found[group] if found is not None and 0 <= group <= regex.groups else None


def _extract_all(text: str, regex: re.Pattern[str], group: int = 1) -> list[str | None] | None:
    return [found[group] for found in regex.finditer(text)] if 0 <= group <= regex.groups else None


def _instr(text: str, regex: re.Pattern[str]) -> int:
    found = regex.search(text)
    return 0 if found is None else found.start() + 1


def _found_in(text: str, regex: re.Pattern[str]) -> bool:
    return bool(regex.pattern) and regex.search(text) is not None


def _first(text: str, regex: re.Pattern[str]) -> str | None:
    found = regex.search(text)
    return None if found is None else found[0]


def _replaced(text: str, pattern: str, new: str) -> str | None:
    try:
        return compiled(pattern).sub(lambda found: new, text)
    except ValueError as error:
        if "not supported" in str(error):
            raise
        return None


_register("REGEXP", t.BooleanType(), _found_in, invalid=False)
_register("REGEXP_EXTRACT", returning_null(STRING), _extract)
_register("REGEXP_EXTRACT_ALL", returning_null(t.ArrayType(STRING)), _extract_all)
_register("REGEXP_COUNT", returning_null(t.IntType()), lambda text, regex: sum(1 for _ in regex.finditer(text)))
_register("REGEXP_INSTR", returning_null(t.IntType()), _instr)
_register("REGEXP_SUBSTR", returning_null(STRING), _first)
register(ScalarFunction("REGEXP_REPLACE", taking(STRING, TEXT, TEXT, TEXT), by_value(_replaced), may_fail=True))
