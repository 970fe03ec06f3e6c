"""Internal. Expressions in plans, in the three notations of Flink's EXPLAIN.

The abstract syntax tree and the physical plan write calls as ``>(a, 1)``, in the tree with ``$0`` for the first column; the execution plan
writes ``(a > 1)``. Casts that are implied by the types of operands, as of a number that is compared with a BIGINT, are left out.
"""

from __future__ import annotations

import datetime
import enum
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from wiesel.columnar.expressions import Call, Expression, InputRef, Literal
from wiesel.columnar.functions.intervals import UNIT_MS
from wiesel.columnar.type_rules import least_restrictive
from wiesel.sql.explain.type_names import type_name
from wiesel.sql.rules.push_down import conjuncts
from wiesel.types import logical as t
from wiesel.types.logical_intervals import DayTimeIntervalType, YearMonthIntervalType

__all__ = ["Expressions", "Notation"]


class Notation(enum.Enum):
    """The notation of expressions."""

    LOGICAL = "of the abstract syntax tree"
    PHYSICAL = "of the physical plan"
    EXECUTION = "of the execution plan"


_COMPARISONS = frozenset(["=", "<>", "<", "<=", ">", ">="])
_BINARY = _COMPARISONS | {"+", "-", "*", "/", "||", "AND", "OR"}
_POSTFIX = frozenset(f"IS {negation}{what}" for negation in ("", "NOT ") for what in ("NULL", "TRUE", "FALSE"))
_NAMES = {"%": "MOD", "NEGATE": "-"}
_WITHOUT_PARENTHESES = frozenset("CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP LOCALTIME LOCALTIMESTAMP".split())
_OPPOSITE = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_LOWER, _UPPER = (">", ">="), ("<", "<=")


class Expressions:
    """Writes expressions over the columns of a relation.

    Args:
        notation: How.
        names: The names of the columns; not read for the abstract syntax tree.
    """

    def __init__(self, notation: Notation, names: Sequence[str] = ()) -> None:
        self._notation = notation
        self._names = names

    def text(self, expression: Expression) -> str:
        """Return an expression, with the type of a literal that does not show it."""
        if isinstance(expression, Literal):
            return self._literal(expression, typed=True)
        if isinstance(expression, InputRef):
            return f"${expression.index}" if self._notation is Notation.LOGICAL else self._names[expression.index]
        assert isinstance(expression, Call)  # noqa: S101 - there are no others
        return self._call(expression)

    def condition(self, parts: Sequence[Expression]) -> str:
        """Return the condition that all parts are true."""
        each = [one for part in parts for one in conjuncts(part)]
        written = _merged_ranges(each, self) if self._notation is not Notation.LOGICAL else [self.text(one) for one in each]
        if not written:
            return "true"
        return written[0] if len(written) == 1 else self._joined("AND", written)

    def _call(self, call: Call) -> str:
        special = _SPECIAL.get(call.function)
        found = None if special is None else special(self, call)
        if found is not None:
            return found
        if call.function == "AND":
            return self.condition([call])
        name = _NAMES.get(call.function, call.function)
        operands = [self.operand(each) for each in _without_implied_casts(call)]
        if call.function in _BINARY and len(operands) > 1 and call.function != "||":
            return self._joined(name, operands)
        if call.function in _POSTFIX and self._notation is Notation.EXECUTION:
            return f"{operands[0]} {name}"
        if not operands and name in _WITHOUT_PARENTHESES and self._notation is Notation.LOGICAL:
            return name
        return f"{name}({', '.join(operands)})"

    def operand(self, expression: Expression) -> str:
        """Return an operand, whose call shows the type of a literal."""
        while _is_cast_of_literal(expression):
            expression = expression.operands[0]  # type: ignore[attr-defined]
        if isinstance(expression, Literal):
            return self._literal(_plain_decimal(expression), typed=isinstance(expression.data_type, t.DecimalType))
        return self.text(expression)

    def _joined(self, name: str, operands: Sequence[str]) -> str:
        return f"({f' {name} '.join(operands)})" if self._notation is Notation.EXECUTION else f"{name}({', '.join(operands)})"

    def typed(self, literal: Literal) -> str:
        """Return a literal with its type if it is no INTEGER, BOOLEAN or CHAR."""
        return self._literal(literal, typed=True)

    def _literal(self, literal: Literal, *, typed: bool) -> str:
        value, of = literal.value, literal.data_type
        if value is None:
            return "null" if isinstance(of, t.NullType) else f"null:{type_name(of)}"
        if isinstance(of, DayTimeIntervalType):
            unit = next((each for each in ("DAY", "HOUR", "MINUTE") if value and value % UNIT_MS[each] == 0), "SECOND")
            return f"{value}:INTERVAL {unit}"
        if isinstance(of, YearMonthIntervalType):
            return f"{value}:INTERVAL {'MONTH' if value % 12 else 'YEAR'}"
        written = self._value(value, of)
        shows = isinstance(of, t.BooleanType | t.IntType | t.CharType | t.DateType)
        if shows or not typed or self._notation is Notation.EXECUTION:
            return written
        return f"{written}:{type_name(of, character_set=True)}"

    def _value(self, value: Any, of: t.DataType) -> str:
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, str):
            quoted = "'" + value.replace("'", "''") + "'"
            return quoted if self._notation is Notation.EXECUTION else f"_UTF-16LE{quoted}"
        if isinstance(value, bytes):
            return f"X'{value.hex()}'"
        if isinstance(of, t.TimestampType | t.LocalZonedTimestampType) and isinstance(value, int):
            return _timestamp(value, of.precision)
        if isinstance(of, t.TimeType) and isinstance(value, int):
            return _timestamp(value, 3)[11:]
        if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:  # noqa: PLR2004 - exact as a whole number
            return str(int(value))
        return f"{value:f}" if isinstance(value, Decimal) else str(value)

    def search(self, searched: Expression, ranges: Sequence[str], of: t.DataType | None = None) -> str:
        """Return the condition that a value is in one of several ranges, of a type that is shown if there is one."""
        shown = f":{type_name(of, character_set=True)}" if of is not None and self._notation is Notation.PHYSICAL else ""
        return f"SEARCH({self.text(searched)}, Sarg[{', '.join(ranges)}]{shown})"


def _timestamp(value: int, precision: int) -> str:
    """Return a time of day and date; of years that Python's dates do not have the number of units since 1970."""
    per = 10 ** (3 if precision <= 3 else 6 if precision <= 6 else 9)  # noqa: PLR2004 - units in which timestamps are kept
    seconds, fraction = divmod(value, per)
    try:
        moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)
    except OverflowError:
        return str(value)
    digits = str(fraction).zfill(len(str(per)) - 1)[:precision].rstrip("0")
    return f"{moment:%Y-%m-%d %H:%M:%S}{f'.{digits}' if digits else ''}"


def _plain_decimal(literal: Literal) -> Literal:
    """Return a DECIMAL that was cast to another precision as it was written, as far as that is known."""
    value, of = literal.value, literal.data_type
    if not isinstance(value, Decimal) or not isinstance(of, t.DecimalType):
        return literal
    _, digits, exponent = value.as_tuple()
    scale = max(-int(exponent), 0)
    if (max(len(digits), scale), scale) == (of.precision, of.scale):
        return literal
    plain = value.normalize()
    scale = max(-int(plain.as_tuple().exponent), 0)
    plain = plain.quantize(Decimal(1).scaleb(-scale))
    return Literal(t.DecimalType(max(len(plain.as_tuple().digits), scale), scale, False), plain)


def _is_cast_of_literal(expression: Expression) -> bool:
    return isinstance(expression, Call) and expression.function == "CAST" and isinstance(expression.operands[0], Literal)


def _without_implied_casts(call: Call) -> Sequence[Expression]:
    """Return the operands of a call; those of an operator without the casts that their types imply."""
    if call.function not in _BINARY | {"%"} or len(call.operands) != 2:  # noqa: PLR2004 - binary operators
        return call.operands
    plain = [_uncast(each) for each in call.operands]
    common = least_restrictive([each.data_type for each in plain])
    same = common is not None and all(type(common) is type(each.data_type) for each in call.operands)
    return plain if same else call.operands


def _uncast(expression: Expression) -> Expression:
    if isinstance(expression, Call) and expression.function == "CAST":
        source, wanted = expression.operands[0].data_type, expression.data_type
        of_numbers = isinstance(source, t.NumericType) and isinstance(wanted, t.NumericType)
        if of_numbers or (isinstance(source, t.CharType | t.VarCharType) and isinstance(wanted, t.VarCharType)):
            return expression.operands[0]
    return expression


def _range_of(part: Expression) -> tuple[InputRef, str, Expression] | None:
    """Return a column, a comparison and a whole number that it is compared with."""
    if not isinstance(part, Call) or part.function not in (*_LOWER, *_UPPER):
        return None
    one, other = part.operands
    while _is_cast_of_literal(other):
        other = other.operands[0]  # type: ignore[attr-defined]
    if isinstance(one, InputRef) and isinstance(other, Literal) and isinstance(other.data_type, t.IntegralType) and other.value is not None:
        return one, part.function, other
    return None


def _merged_ranges(parts: Sequence[Expression], expressions: Expressions) -> list[str]:
    """Return conditions; a lower and an upper bound of one column become one, as Calcite has them."""
    written: list[str] = []
    done: set[int] = set()
    found = [_range_of(part) for part in parts]
    for place, part in enumerate(parts):
        if place in done:
            continue
        lower = found[place]
        other = next(
            (
                later
                for later in range(place + 1, len(parts))
                if lower is not None and _bounds_other_end(lower, found[later]) and later not in done
            ),
            None,
        )
        if lower is None or other is None:
            written.append(expressions.text(part))
            continue
        done.add(other)
        ends = sorted([lower, found[other]], key=lambda each: each[1] in _UPPER)  # type: ignore[index]
        (column, begin, low), (_, end, high) = ends  # type: ignore[misc]
        bounds = f"{expressions.operand(low)}..{expressions.operand(high)}"
        written.append(expressions.search(column, [f"{'[' if begin == '>=' else '('}{bounds}{']' if end == '<=' else ')'}"]))
    return written


def _bounds_other_end(one: tuple[InputRef, str, Expression], other: tuple[InputRef, str, Expression] | None) -> bool:
    return other is not None and one[0].index == other[0].index and (one[1] in _LOWER) != (other[1] in _LOWER)


# Calls that are written otherwise than NAME(operands)


def _cast(expressions: Expressions, call: Call) -> str | None:
    if _is_cast_of_literal(call):
        literal = call.operands[0]
        assert isinstance(literal, Literal)  # noqa: S101 - for the type checker
        kept = (t.NumericType, t.NullType) if literal.value is not None else (t.DataType,)
        if isinstance(literal.data_type, kept) or isinstance(call.data_type, t.VarCharType):
            return expressions.typed(Literal(call.data_type, literal.value))
    operand = expressions.text(call.operands[0])
    named = type_name(call.data_type, character_set=expressions._notation is not Notation.EXECUTION)
    if expressions._notation is Notation.EXECUTION:
        return f"CAST({operand} AS {named})"
    named += "" if call.data_type.is_nullable else " NOT NULL"
    return f"CAST({operand}):{named}" if expressions._notation is Notation.LOGICAL else f"CAST({operand} AS {named})"


def _try_cast(expressions: Expressions, call: Call) -> str | None:
    operand = expressions.text(call.operands[0])
    if expressions._notation is Notation.LOGICAL:
        return f"TRY_CAST({operand})"
    return f"TRY_CAST({operand} AS {type_name(call.data_type)})"


def _or(expressions: Expressions, call: Call) -> str | None:
    parts: list[Expression] = []
    pending = list(call.operands)
    while pending:
        part = pending.pop(0)
        if isinstance(part, Call) and part.function == "OR":
            pending = [*part.operands, *pending]
        else:
            parts.append(part)
    return expressions._joined("OR", [expressions.text(part) for part in parts])


def _not(expressions: Expressions, call: Call) -> str | None:
    negated = call.operands[0]
    if expressions._notation is Notation.LOGICAL or not isinstance(negated, Call) or negated.function not in _OPPOSITE:
        return None
    return expressions.text(Call(negated.data_type, _OPPOSITE[negated.function], negated.operands))


def _in(expressions: Expressions, call: Call) -> str | None:
    searched, *values = call.operands
    if expressions._notation is Notation.LOGICAL or len(values) == 1:
        written = [expressions._joined("=", [expressions.operand(searched), expressions.operand(each)]) for each in values]
        return written[0] if len(written) == 1 else expressions._joined("OR", written)
    plain = [each.operands[0] if isinstance(each, Call) and _is_cast_of_literal(each) else each for each in values]
    if all(isinstance(each, Literal) and isinstance(each.data_type, t.IntegralType) and each.value is not None for each in plain):
        ordered = sorted({each.value: each for each in plain if isinstance(each, Literal)}.items())
        return expressions.search(searched, [expressions.operand(each) for _, each in ordered])
    strings = sorted({each.value for each in plain if isinstance(each, Literal) and isinstance(each.value, str)})
    if len({len(text) for text in strings}) != 1 or not all(isinstance(each, Literal) and isinstance(each.value, str) for each in plain):
        return None
    of = t.CharType(len(strings[0]), False)
    return expressions.search(searched, [Expressions(Notation.PHYSICAL).typed(Literal(of, text)) for text in strings], of)


def _case(expressions: Expressions, call: Call) -> str | None:
    written = [expressions.text(each) for each in call.operands]
    return f"CASE({', '.join(written)})"


def _comparison(expressions: Expressions, call: Call) -> str | None:
    """Return a comparison with a text, whose type the physical plan shows."""
    if expressions._notation is not Notation.PHYSICAL:
        return None
    if not any(isinstance(each, Literal) and isinstance(each.value, str) for each in call.operands):
        return None
    plain = all(isinstance(each, Literal | InputRef) for each in call.operands)
    operands = call.operands if plain else _without_implied_casts(call)
    return f"{call.function}({', '.join(map(expressions.text, operands))})"


def _flagged(name: str, *, first: bool) -> Callable[[Expressions, Call], str | None]:
    def write(expressions: Expressions, call: Call) -> str | None:
        operands = [expressions.operand(each) for each in call.operands]
        flag = f"FLAG({call.options[0]})"
        return f"{name}({', '.join([flag, *operands] if first else [*operands, flag])})"

    return write


def _trim(expressions: Expressions, call: Call) -> str | None:
    operand, characters = (expressions.operand(each) for each in call.operands)
    return f"TRIM(FLAG({call.options[0]}), {characters}, {operand})"


def _user_function(expressions: Expressions, call: Call) -> str | None:
    function = call.options[0]
    return f"{getattr(function, 'name', 'function')}({', '.join(expressions.operand(each) for each in call.operands)})"


_SPECIAL: dict[str, Callable[[Expressions, Call], str | None]] = {
    "CAST": _cast,
    "TRY_CAST": _try_cast,
    "OR": _or,
    "NOT": _not,
    "IN": _in,
    "CASE": _case,
    **dict.fromkeys(_COMPARISONS, _comparison),
    "EXTRACT": _flagged("EXTRACT", first=True),
    "FLOOR TO": _flagged("FLOOR", first=False),
    "CEIL TO": _flagged("CEIL", first=False),
    "TRIM": _trim,
    "FIELD OF": lambda expressions, call: f"{expressions.text(call.operands[0])}.{call.options[0]}",
    "USER FUNCTION": _user_function,
}
