"""Internal. Expressions over the columns of a batch, bound and typed: plain data, which plans carry and workers evaluate.

Every operand has exactly the type that its function expects; the constructor of calls (:func:`wiesel.columnar.functions.registry.call`)
inserts casts where needed. So evaluation makes no decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from wiesel.types.logical import DataType

__all__ = ["Call", "Expression", "InputRef", "Literal", "input_refs", "remapped", "shifted", "transformed"]


@dataclass(frozen=True)
class Expression:
    """A value for each row."""

    data_type: DataType


@dataclass(frozen=True)
class Literal(Expression):
    """A constant, as ``pyarrow.scalar`` accepts it for the type; None is NULL."""

    value: Any

    def __str__(self) -> str:
        return "NULL" if self.value is None else repr(self.value)


@dataclass(frozen=True)
class InputRef(Expression):
    """A column of the input, by its index. ``name`` is for display only."""

    index: int
    name: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.name or f"${self.index}"


@dataclass(frozen=True)
class Call(Expression):
    """A call of a function of the registry.

    Attributes:
        function: Its name there, such as ``+`` or ``UPPER`` (operators have their SQL sign, all others capitals).
        operands: The operands.
        options: Further options, such as the keywords of JSON_VALUE or a function of the user; must be picklable.
    """

    function: str
    operands: tuple[Expression, ...] = ()
    options: tuple[Any, ...] = ()

    def __str__(self) -> str:
        if self.function == "CAST":
            return f"CAST({self.operands[0]} AS {self.data_type.as_summary_string()})"
        if not self.function[0].isalpha() and len(self.operands) == 2:
            return f"({self.operands[0]} {self.function} {self.operands[1]})"
        return f"{self.function}({', '.join(map(str, self.operands))})"


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all within it."""
    yield expression
    if isinstance(expression, Call):
        for operand in expression.operands:
            yield from walk(operand)


def input_refs(expression: Expression) -> set[int]:
    """Return the indexes of the columns that an expression reads."""
    return {part.index for part in walk(expression) if isinstance(part, InputRef)}


def transformed(expression: Expression, change: Callable[[Expression], Expression | None]) -> Expression:
    """Return an expression with parts replaced; ``change`` returns None for unchanged parts (which are traversed)."""
    changed = change(expression)
    if changed is not None:
        return changed
    if isinstance(expression, Call):
        return replace(expression, operands=tuple(transformed(operand, change) for operand in expression.operands))
    return expression


def remapped(expression: Expression, indexes: Mapping[int, int]) -> Expression:
    """Return an expression that reads other columns; ``indexes`` has the new index of each column that it reads."""
    return transformed(expression, lambda part: replace(part, index=indexes[part.index]) if isinstance(part, InputRef) else None)


def shifted(expression: Expression, by: int) -> Expression:
    """Return an expression whose column indexes are shifted by a number."""
    return transformed(expression, lambda part: replace(part, index=part.index + by) if isinstance(part, InputRef) else None)
