"""Internal. Registry of scalar functions: their types and their evaluation.

Modules of this package register their functions when they are imported; the imports here map names to modules.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wiesel.columnar.expressions import Call, Expression, Literal, walk
from wiesel.core.errors import ProgramError, invariant
from wiesel.types.logical import DataType

if TYPE_CHECKING:
    from wiesel.columnar.evaluation import Datum, Frame

__all__ = [
    "Arguments",
    "ScalarFunction",
    "Signature",
    "call",
    "can_fail",
    "cast",
    "find_function",
    "function_names",
    "is_deterministic",
    "register",
    "similar_names",
]

_MODULES = (
    "arithmetic",
    "arrays",
    "bitmaps",
    "casts",
    "clocks",
    "comparison",
    "conditional",
    "encodings",
    "hive",
    "hive_ciphers",
    "hive_dialect",
    "hive_documents",
    "hive_murmur",
    "hive_sentences",
    "hive_tables",
    "intervals",
    "java_objects",
    "json_functions",
    "logic",
    "maps",
    "mathematics",
    "objects",
    "patterns",
    "printing",
    "rows",
    "splitting",
    "strings",
    "time_formats",
    "times",
    "user_functions",
    "variants",
)


@dataclass(frozen=True)
class Arguments:
    """The arguments of a call at binding time.

    Attributes:
        name: The name of the function in messages.
        operands: The operands before casts.
        options: Further options of the call.
    """

    name: str
    operands: tuple[Expression, ...]
    options: tuple[Any, ...] = ()

    @property
    def types(self) -> list[DataType]:
        """The types of the operands."""
        return [operand.data_type for operand in self.operands]

    def literal(self, index: int) -> Any:
        """Return the value of a literal operand, None for other operands (or NULL)."""
        operand = self.operands[index] if index < len(self.operands) else None
        return operand.value if isinstance(operand, Literal) else None

    def refuse(self, supported: str = "") -> ProgramError:
        """Return the error for unsupported operands; ``supported`` shows the supported ones."""
        given = ", ".join(f"<{of.as_summary_string()}>" for of in self.types)
        hint = f"supported: {supported}" if supported else "cast the arguments to types that it takes"
        return ProgramError(f"cannot apply {self.name!r} to arguments of type ({given})", hint=hint)


@dataclass(frozen=True)
class Signature:
    """The resolved types of a call.

    Attributes:
        operand_types: The types that its operands are cast to.
        result: The type of the result.
        tries: Use TRY_CAST for non-literal operands.
    """

    operand_types: Sequence[DataType]
    result: DataType
    tries: bool = False


@dataclass(frozen=True)
class ScalarFunction:
    """A function of the values of one row.

    Attributes:
        name: The SQL sign of an operator, upper case for all others.
        resolve: Returns the signature for operands, or raises what :meth:`Arguments.refuse` returns.
        evaluate: Computes all rows from columns (or scalars) of exactly the resolved types.
        evaluate_lazily: Instead of ``evaluate`` for functions that do not evaluate all operands for all rows (CASE, COALESCE).
        deterministic: It may be evaluated ahead or repeatedly.
        may_fail: A call can raise for some values; inside CASE, AND or OR it is evaluated only for the rows that need it.
    """

    name: str
    resolve: Callable[[Arguments], Signature]
    evaluate: Callable[[Call, Frame, list[Datum]], Datum] | None = None
    evaluate_lazily: Callable[[Call, Frame, Callable[[Expression, Frame], Datum]], Datum] | None = None
    deterministic: Callable[[Call], bool] | bool = True
    may_fail: Callable[[Call], bool] | bool = False


_FUNCTIONS: dict[str, ScalarFunction] = {}
_loaded: list[str] = []


def register(function: ScalarFunction) -> None:
    """Register a function."""
    invariant(function.name not in _FUNCTIONS, f"there are two functions {function.name!r}")
    _FUNCTIONS[function.name] = function


def _load() -> None:
    if not _loaded:
        for module in _MODULES:
            importlib.import_module(f"wiesel.columnar.functions.{module}")
        # Imported lazily: a concurrent thread has to wait for the same modules.
        _loaded.extend(_MODULES)


def find_function(name: str) -> ScalarFunction | None:
    """Return a function, None if the name is unknown."""
    _load()
    return _FUNCTIONS.get(name)


def function_names() -> list[str]:
    """Return the names of all functions and operators."""
    _load()
    return sorted(_FUNCTIONS)


def can_fail(expression: Expression) -> bool:
    """Return whether the evaluation of an expression can raise."""
    return any(isinstance(part, Call) and _call_can_fail(part) for part in walk(expression))


def _call_can_fail(call: Call) -> bool:
    function = find_function(call.function)
    if function is None:
        return True
    return function.may_fail if isinstance(function.may_fail, bool) else function.may_fail(call)


def is_deterministic(expression: Expression) -> bool:
    """Return whether an expression has the same value whenever it is evaluated for a row."""
    return all(_is_deterministic(part) for part in walk(expression) if isinstance(part, Call))


def _is_deterministic(call: Call) -> bool:
    function = find_function(call.function)
    if function is None:
        return False
    return function.deterministic if isinstance(function.deterministic, bool) else function.deterministic(call)


def similar_names(name: str) -> list[str]:
    """Return names of functions similar to an unknown one."""
    _load()
    return difflib.get_close_matches(name, _FUNCTIONS, n=3)


def call(name: str, operands: Sequence[Expression], options: Sequence[Any] = ()) -> Call:
    """Return the call of a function, with its operands cast as needed.

    Raises:
        ProgramError: If there is no such function, or it does not accept the operands.
    """
    function = find_function(name)
    if function is None:
        near = similar_names(name)
        raise ProgramError(f"there is no function {name!r}", hint=f"did you mean {' or '.join(near)}?" if near else "see SHOW FUNCTIONS")
    signature = function.resolve(Arguments(name, tuple(operands), tuple(options)))
    fit = _tried if signature.tries else cast
    fitted = tuple(fit(operand, wanted) for operand, wanted in zip(operands, signature.operand_types, strict=True))
    return Call(signature.result, name, fitted, tuple(options))


def _tried(operand: Expression, wanted: DataType) -> Expression:
    fitted = cast(operand, wanted)
    return fitted if fitted is operand or isinstance(operand, Literal) else Call(wanted.nullable(), "TRY_CAST", (operand,))


def cast(operand: Expression, wanted: DataType) -> Expression:
    """Return an operand cast to another type; the operand itself if the types differ at most in nullability."""
    if operand.data_type.nullable() == wanted.nullable():
        return operand
    if isinstance(operand, Literal) and operand.value is None:
        return Literal(wanted.nullable(), None)
    return Call(wanted if not operand.data_type.is_nullable else wanted.nullable(), "CAST", (operand,))
