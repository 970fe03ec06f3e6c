"""Internal. Compact notation of signatures: ``taking(STRING, TEXT, INTEGER)``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from wiesel.columnar.functions.registry import Arguments, Signature
from wiesel.columnar.type_rules import BYTES, STRING, is_binary, is_interval, is_text
from wiesel.types import logical as t

__all__ = [
    "ANY",
    "ARRAY",
    "BIGINT",
    "BINARY",
    "BOOLEAN",
    "DOUBLE",
    "INTEGER",
    "MAP",
    "NUMERIC",
    "NUMERIC_OR_INTERVAL",
    "TEXT",
    "TEXT_OR_BINARY",
    "TEXT_OR_NULL",
    "Kind",
    "kind_of",
    "never_null",
    "nullable_if_any",
    "returning_null",
    "taking",
]

Result = t.DataType | Callable[[Arguments], t.DataType]


@dataclass(frozen=True)
class Kind:
    """The types allowed for an argument: their name in errors, and the type to cast to (None: not allowed)."""

    name: str
    fit: Callable[[t.DataType], t.DataType | None]


def _integer(of: t.DataType) -> t.DataType | None:
    if isinstance(of, t.NullType):
        return t.IntType()
    return t.IntType(of.is_nullable) if isinstance(of, t.IntegralType) and not isinstance(of, t.BigIntType) else None


def _cast_to(wanted: t.DataType, accepts: Callable[[t.DataType], bool]) -> Callable[[t.DataType], t.DataType | None]:
    def fit(of: t.DataType) -> t.DataType | None:
        return (wanted if of.is_nullable else wanted.not_null()) if isinstance(of, t.NullType) or accepts(of) else None

    return fit


def _as_is(accepts: Callable[[t.DataType], bool], default: t.DataType) -> Callable[[t.DataType], t.DataType | None]:
    return lambda of: default if isinstance(of, t.NullType) else of if accepts(of) else None


def kind_of(name: str, *classes: type[t.DataType], default: t.DataType | None = None) -> Kind:
    """Return the kind of some classes, without casts; NULL is treated as the default."""
    return Kind(name, _as_is(lambda of: isinstance(of, classes), default or STRING))


ANY = Kind("<ANY>", lambda of: of)
TEXT = Kind("<CHARACTER>", lambda of: of if is_text(of) else None)
TEXT_OR_NULL = Kind("<CHARACTER>", _as_is(is_text, STRING))
"""Most functions of strings reject an untyped NULL, as in Flink."""
BINARY = Kind("<BINARY>", _as_is(is_binary, BYTES))
TEXT_OR_BINARY = Kind("<CHARACTER>|<BINARY>", _as_is(lambda of: is_text(of) or is_binary(of), STRING))
INTEGER = Kind("<INTEGER>", _integer)
BIGINT = Kind("<INTEGER>", _cast_to(t.BigIntType(), lambda of: isinstance(of, t.IntegralType)))
NUMERIC = Kind("<NUMERIC>", _as_is(lambda of: isinstance(of, t.NumericType), t.IntType()))
NUMERIC_OR_INTERVAL = Kind("<NUMERIC>|<INTERVAL>", _as_is(lambda of: isinstance(of, t.NumericType) or is_interval(of), t.IntType()))
DOUBLE = Kind("<NUMERIC>", _cast_to(t.DoubleType(), lambda of: isinstance(of, t.NumericType)))
BOOLEAN = Kind("<BOOLEAN>", _cast_to(t.BooleanType(), lambda of: isinstance(of, t.BooleanType)))
ARRAY = Kind("<ARRAY>", _as_is(lambda of: isinstance(of, t.ArrayType), t.ArrayType(t.IntType())))
MAP = Kind("<MAP>", _as_is(lambda of: isinstance(of, t.MapType), t.MapType(STRING, STRING)))


def nullable_if_any(result: t.DataType, arguments: Arguments) -> t.DataType:
    """Return a type that may be NULL if an argument may."""
    return result.nullable() if any(of.is_nullable for of in arguments.types) else result.not_null()


def returning_null(result: Result) -> Callable[[Arguments], t.DataType]:
    """Return the rule for functions that may return NULL for any arguments."""
    return lambda arguments: (result if isinstance(result, t.DataType) else result(arguments)).nullable()


def never_null(result: t.DataType) -> Callable[[Arguments], t.DataType]:
    """Return the rule for functions that never return NULL."""
    return lambda arguments: result.not_null()


def taking(result: Result, *kinds: Kind, optional: int = 0, rest: Kind | None = None) -> Callable[[Arguments], Signature]:
    """Return the ``resolve`` of a function with arguments of these kinds; the last ``optional`` ones may be missing.

    Args:
        result: The result type, NULL if an argument is NULL; or a function of the arguments, which also decides about nullability.
        kinds: The kinds of the arguments.
        optional: Number of optional arguments.
        rest: Kind of any number of further arguments.
    """

    def resolve(arguments: Arguments) -> Signature:
        fitted = _fitted(arguments.types, kinds, optional, rest)
        if fitted is None:
            raise arguments.refuse(_shown(arguments.name, kinds, optional, rest))
        return Signature(fitted, nullable_if_any(result, arguments) if isinstance(result, t.DataType) else result(arguments))

    return resolve


def _fitted(types: Sequence[t.DataType], kinds: Sequence[Kind], optional: int, rest: Kind | None) -> list[Any] | None:
    if len(types) < len(kinds) - optional or (rest is None and len(types) > len(kinds)):
        return None
    wanted = [*kinds[: len(types)], *([rest] * (len(types) - len(kinds)))]
    fitted = [None if kind is None else kind.fit(of) for kind, of in zip(wanted, types, strict=True)]
    return None if None in fitted else fitted


def _shown(name: str, kinds: Sequence[Kind], optional: int, rest: Kind | None) -> str:
    least = len(kinds) - optional
    shown = ", ".join(kind.name for kind in kinds[:least])
    shown += "".join(f"[, {kind.name}" for kind in kinds[least:]) + "]" * optional
    return f"{name}({shown}{f', {rest.name}...' if rest else ''})"
