"""Internal. LIKE, SIMILAR TO, and functions of regular expressions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.expressions import Call
from wiesel.columnar.functions.java_regex import compiled, like_pattern, similar_pattern
from wiesel.columnar.functions.kernels import by_value
from wiesel.columnar.functions.linear_patterns import linear_pattern
from wiesel.columnar.functions.registry import ScalarFunction, register
from wiesel.columnar.functions.signatures import INTEGER, TEXT, TEXT_OR_NULL, returning_null, taking
from wiesel.columnar.type_rules import STRING
from wiesel.types import logical as t

__all__: list[str] = []


_FEW = 32
"""Up to this number of strings, a cached Python pattern is faster than compiling one of RE2."""


def _constants(operands: list[Any]) -> list[Any] | None:
    """Return the values after the first operand if they are constant, and that is a column worth a kernel."""
    text, *others = operands
    if isinstance(text, pa.Scalar) or len(text) < _FEW or not all(isinstance(each, pa.Scalar) and each.is_valid for each in others):
        return None
    return [each.as_py() for each in others]


def _by_kernel_or_value(kernel: Callable[..., Any], compute: Callable[..., Any]) -> Callable[..., Any]:
    """Evaluate by an Arrow function of (strings, constants...), where it returns a result, and row by row otherwise."""
    value_by_value = by_value(compute)

    def evaluate(call: Call, frame: Any, operands: list[Any]) -> Any:
        constants = _constants(operands)
        found = None if constants is None else kernel(operands[0], *constants)
        return value_by_value(call, frame, operands) if found is None else found

    return evaluate


def _like(call: Call, frame: Any, operands: list[Any]) -> Any:
    text, pattern = operands[:2]
    constant = isinstance(pattern, pa.Scalar) and pattern.is_valid and not isinstance(text, pa.Scalar)
    if len(operands) == 2 and constant:
        return _simple_like(text, pattern.as_py())
    return _like_with_escape(call, frame, operands)


def _matched_like(text: str, pattern: str, escape: str | None = None) -> bool:
    return like_pattern(pattern, escape).fullmatch(text) is not None


def _like_kernel(text: Any, pattern: str, escape: str) -> Any:
    try:
        return pc.match_substring_regex(text, f"(?s)^{like_pattern(pattern, escape).pattern}$")
    except ValueError:
        return None  # an error, if it is evaluated for any row


_like_with_escape = _by_kernel_or_value(_like_kernel, _matched_like)


def _simple_like(text: Any, pattern: str) -> Any:
    """Evaluate by a kernel, if the pattern has at most one wildcard."""
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


def _similar_kernel(text: Any, pattern: str, escape: str | None = None) -> Any:
    try:
        linear = linear_pattern(similar_pattern(pattern, escape).pattern)
    except ValueError:
        return None
    return None if linear is None else pc.match_substring_regex(text, f"^(?:{linear.text})$")


_LIKE = taking(t.BooleanType(), TEXT, TEXT, TEXT, optional=1)
register(ScalarFunction("LIKE", _LIKE, _like, may_fail=lambda call: len(call.operands) > 2))
register(ScalarFunction("SIMILAR TO", _LIKE, _by_kernel_or_value(_similar_kernel, _similar), may_fail=True))


def _checked(compute: Callable[..., Any], invalid: Any = None) -> Callable[..., Any]:
    """Return the function of a string, a regular expression and further arguments; ``invalid`` is the result for an invalid expression."""

    def checked(text: str, pattern: str, *rest: Any) -> Any:
        try:
            regex = compiled(pattern)
        except ValueError as error:
            if "not supported" in str(error):
                raise
            return invalid
        return compute(text, regex, *rest)

    return checked


def _register(
    name: str, result: Any, compute: Callable[..., Any], invalid: Any = None, kernel: Callable[..., Any] = lambda *operands: None
) -> None:
    """Register a function of a string, a regular expression and an optional number."""
    evaluate = _by_kernel_or_value(kernel, _checked(compute, invalid))
    register(ScalarFunction(name, taking(result, TEXT_OR_NULL, TEXT_OR_NULL, INTEGER, optional=1), evaluate, may_fail=True))


def _extract(text: str, regex: re.Pattern[str], group: int = 0) -> str | None:
    found = regex.search(text)
    return found[group] if found is not None and 0 <= group <= regex.groups else None


def _all_found(regex: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield all matches as Java does, which continues at the next character after an empty one. Python retries the same position."""
    place = 0
    while place <= len(text) and (found := regex.search(text, place)) is not None:
        yield found
        place = found.end() + (found.start() == found.end())


def _extract_all(text: str, regex: re.Pattern[str], group: int = 1) -> list[str | None] | None:
    return [found[group] for found in _all_found(regex, text)] if 0 <= group <= regex.groups else None


def _instr(text: str, regex: re.Pattern[str]) -> int:
    found = regex.search(text)
    return 0 if found is None else found.start() + 1


def _found_in(text: str, regex: re.Pattern[str]) -> bool:
    return bool(regex.pattern) and regex.search(text) is not None


def _first(text: str, regex: re.Pattern[str]) -> str | None:
    found = regex.search(text)
    return None if found is None else found[0]


def _replaced(text: str, regex: re.Pattern[str], new: str) -> str:
    parts: list[str] = []
    end = 0
    for found in _all_found(regex, text):
        parts += (text[end : found.start()], new)
        end = found.end()
    return "".join((*parts, text[end:]))


def _found_kernel(text: Any, pattern: str) -> Any:
    linear = linear_pattern(pattern) if pattern else None
    return None if linear is None else pc.match_substring_regex(text, linear.text)


def _extract_kernel(text: Any, pattern: str, group: int = 0) -> Any:
    linear = linear_pattern(pattern, group)
    return None if linear is None else pc.struct_field(pc.extract_regex(text, linear.text), 0)


def _count_kernel(text: Any, pattern: str) -> Any:
    # It restarts after each match, and a string has no beginning there.
    linear = linear_pattern(pattern)
    if linear is None or linear.may_be_empty or linear.anchored:
        return None
    return pc.count_substring_regex(text, linear.text)


def _replace_kernel(text: Any, pattern: str, new: str) -> Any:
    # After a match Java finds an empty one immediately, RE2 does not.
    linear = linear_pattern(pattern)
    if linear is None or linear.may_be_empty:
        return None
    return pc.replace_substring_regex(text, linear.text, new.replace("\\", r"\\"))


_register("REGEXP", t.BooleanType(), _found_in, invalid=False, kernel=_found_kernel)
_register("REGEXP_EXTRACT", returning_null(STRING), _extract, kernel=_extract_kernel)
_register("REGEXP_EXTRACT_ALL", returning_null(t.ArrayType(STRING)), _extract_all)
_register("REGEXP_COUNT", returning_null(t.IntType()), lambda text, regex: sum(1 for _ in _all_found(regex, text)), kernel=_count_kernel)
_register("REGEXP_INSTR", returning_null(t.IntType()), _instr)
_register("REGEXP_SUBSTR", returning_null(STRING), _first, kernel=_extract_kernel)
_replace = _by_kernel_or_value(_replace_kernel, _checked(_replaced))
register(ScalarFunction("REGEXP_REPLACE", taking(STRING, TEXT, TEXT, TEXT), _replace, may_fail=True))
