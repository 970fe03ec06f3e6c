"""Internal. Modules: where functions come from that have a name of their own; Flink's are in ``core``, those of Hive in ``hive``."""

from __future__ import annotations

import difflib
import getpass
from collections.abc import Mapping, Sequence

from wiesel.columnar.expressions import Call, Expression, Literal
from wiesel.columnar.functions.registry import call, function_names
from wiesel.columnar.functions.user_functions import ModuleFunction
from wiesel.core.errors import ProgramError
from wiesel.sql.hive.table_functions import hive_table_functions, named_row
from wiesel.types import logical as t
from wiesel.types.logical import quoted

__all__ = ["HIVE_PREFIX", "Modules", "hive_functions"]

HIVE_PREFIX = "hive."
_KINDS = ("core", "hive")
_SAME = {
    "ISFALSE": "IS FALSE",
    "ISNOTFALSE": "IS NOT FALSE",
    "ISNOTNULL": "IS NOT NULL",
    "ISNOTTRUE": "IS NOT TRUE",
    "ISNULL": "IS NULL",
    "ISTRUE": "IS TRUE",
    "LCASE": "LOWER",
    "NVL": "IFNULL",
    "RLIKE": "REGEXP",
    "SHA": "SHA1",
    "SORT_ARRAY": "ARRAY_SORT",
    "TO_UNIX_TIMESTAMP": "UNIX_TIMESTAMP",
    "UCASE": "UPPER",
}
"""Functions of Hive that Flink has under other names."""


def _called(name: str) -> ModuleFunction:
    return ModuleFunction(lambda operands: call(name, operands))


def _size(operands: Sequence[Expression]) -> Call:
    """Return the number of elements, which Hive tells to be -1 where there is no array or map."""
    return call("COALESCE", [call("CARDINALITY", operands), Literal(t.IntType(False), -1)])


def _floor(unit: str) -> ModuleFunction:
    return ModuleFunction(lambda operands: call("FLOOR TO", operands, [unit]))


def _struct(operands: Sequence[Expression]) -> Expression:
    """Return a row whose fields are called as Hive calls them."""
    return named_row([f"col{place}" for place, _ in enumerate(operands, 1)], operands)


def _named_struct(operands: Sequence[Expression]) -> Expression:
    names = [operand.value if isinstance(operand, Literal) else None for operand in operands[::2]]
    if len(operands) % 2 or not operands or not all(isinstance(name, str) for name in names):
        raise ProgramError("named_struct() takes names, which are literals, and values in turns", hint="write named_struct('a', 1, 'b', 2)")
    return named_row([str(name) for name in names], operands[1::2])


def _user(operands: Sequence[Expression]) -> Expression:
    """Return the name of the user that runs the program."""
    if operands:
        raise ProgramError("the function takes no arguments", hint="leave them out")
    return Literal(t.VarCharType(t.MAX_LENGTH, False), getpass.getuser())


_IN_PYTHON = "write a function in Python"
_IN_DIALECT = "SET table.sql-dialect = hive, or write an aggregate function in Python"
_REFUSED = {
    "CONTEXT_NGRAMS": ("it is an aggregate of Hive's dialect", _IN_DIALECT),
    "CREATE_UNION": ("there is no type of unions", _IN_PYTHON),
    "JAVA_METHOD": ("it calls methods of Java, and there is no JVM in the workers", _IN_PYTHON),
    "NGRAMS": ("it is an aggregate of Hive's dialect", _IN_DIALECT),
    "REFLECT": ("it calls methods of Java, and there is no JVM in the workers", _IN_PYTHON),
}


def refused_functions() -> dict[str, ModuleFunction]:
    """Return the functions of Hive that are refused with a reason of their own, by their names."""
    return {name: _refusing(name, *why) for name, why in _REFUSED.items()}


def _refusing(name: str, reason: str, hint: str) -> ModuleFunction:
    def refuse(operands: Sequence[Expression]) -> Expression:
        raise ProgramError(f"{name.lower()} of Hive cannot be called: {reason}", hint=hint)

    return ModuleFunction(refuse)


def hive_functions() -> dict[str, ModuleFunction]:
    """Return the functions that Hive has and Flink has not, those that return tables among them, by their names."""
    own = {name.removeprefix(HIVE_PREFIX): _called(name) for name in function_names() if name.startswith(HIVE_PREFIX)}
    return {**own, **{name: _called(same) for name, same in _SAME.items()}, **_OTHERS, **hive_table_functions()}


_OTHERS = {
    "CURRENT_USER": ModuleFunction(_user),
    **{f"FLOOR_{unit}": _floor(unit) for unit in ("DAY", "HOUR", "MINUTE", "MONTH", "QUARTER", "SECOND", "YEAR")},
    "LOGGED_IN_USER": ModuleFunction(_user),
    "NAMED_STRUCT": ModuleFunction(_named_struct),
    "SIZE": ModuleFunction(_size),
    "STRUCT": ModuleFunction(_struct),
}


class Modules:
    """The modules of an environment: which are loaded, and which of these are used, in order."""

    def __init__(self) -> None:
        self._loaded: list[str] = ["core"]
        self._used: list[str] = ["core"]

    def load(self, name: str, options: Mapping[str, str]) -> None:
        """Load a module and use it, behind the others.

        Raises:
            ProgramError: If it is loaded already, there is no such module, or it does not take the options.
        """
        if name in self._loaded:
            raise ProgramError(f"module {quoted(name)} is loaded already", hint="UNLOAD MODULE first, or leave the statement out")
        if name not in _KINDS:
            raise ProgramError(f"there is no module {quoted(name)}", hint=f"there are {' and '.join(_KINDS)}")
        wrong = [key for key in options if name != "hive" or key != "hive-version"]
        if wrong:
            raise ProgramError(f"module {quoted(name)} has no option {wrong[0]!r}", hint="leave it out")
        self._loaded.append(name)
        self._used.append(name)

    def unload(self, name: str) -> None:
        """Take a module away.

        Raises:
            ProgramError: If it is not loaded.
        """
        self._check(name)
        self._loaded.remove(name)
        if name in self._used:
            self._used.remove(name)

    def use(self, names: Sequence[str]) -> None:
        """Use these modules, in this order, and no others.

        Raises:
            ProgramError: If one of them is not loaded or named twice.
        """
        for place, name in enumerate(names):
            self._check(name)
            if name in names[:place]:
                raise ProgramError(f"module {quoted(name)} appears more than once", hint="name it once")
        self._used = list(names)

    def used(self) -> list[str]:
        """Return the names of those that are used, in order."""
        return list(self._used)

    def all(self) -> list[tuple[str, bool]]:
        """Return the names of all that are loaded, those that are used first, and whether they are."""
        return [*((name, True) for name in self._used), *((name, False) for name in self._loaded if name not in self._used)]

    def functions(self) -> dict[str, ModuleFunction]:
        """Return what names mean besides those of Flink's functions, which are there as in Flink also when ``core`` is unloaded."""
        return {**hive_functions(), **refused_functions()} if "hive" in self._used else {}

    def _check(self, name: str) -> None:
        if name not in self._loaded:
            near = difflib.get_close_matches(name, self._loaded, n=1)
            hint = f"did you mean {quoted(near[0])}?" if near else "LOAD MODULE loads one, SHOW FULL MODULES tells those that are loaded"
            raise ProgramError(f"no module {quoted(name)} is loaded", hint=hint)
