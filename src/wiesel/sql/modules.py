"""Internal. Modules: where functions come from that have a name of their own; Flink's are in ``core``, those of Hive in ``hive``."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from wiesel.columnar.expressions import Call, Expression, Literal
from wiesel.columnar.functions.registry import call, function_names
from wiesel.columnar.functions.user_functions import ModuleFunction
from wiesel.core.errors import ProgramError
from wiesel.types import logical as t
from wiesel.types.logical import quoted

__all__ = ["HIVE_PREFIX", "Modules", "hive_functions"]

HIVE_PREFIX = "hive."
_KINDS = ("core", "hive")
_SAME = {
    "ISNOTNULL": "IS NOT NULL",
    "ISNULL": "IS NULL",
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


def hive_functions() -> dict[str, ModuleFunction]:
    """Return the functions that Hive has and Flink has not, by their names."""
    own = {name.removeprefix(HIVE_PREFIX): _called(name) for name in function_names() if name.startswith(HIVE_PREFIX)}
    return {**own, **{name: _called(same) for name, same in _SAME.items()}, "SIZE": ModuleFunction(_size)}


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
        return hive_functions() if "hive" in self._used else {}

    def _check(self, name: str) -> None:
        if name not in self._loaded:
            near = difflib.get_close_matches(name, self._loaded, n=1)
            hint = f"did you mean {quoted(near[0])}?" if near else "LOAD MODULE loads one, SHOW FULL MODULES tells those that are loaded"
            raise ProgramError(f"no module {quoted(name)} is loaded", hint=hint)
