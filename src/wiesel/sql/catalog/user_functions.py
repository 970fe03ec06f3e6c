"""Internal. The functions that users have given names to. Names of functions are the same in capitals and small letters, as in Flink."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TypeAlias

from wiesel.columnar.aggregates.user_aggregates import UserAggregate
from wiesel.columnar.functions.user_functions import ModuleFunction, UserFunction
from wiesel.core.errors import ProgramError
from wiesel.runtime.table.process.spec import UserProcessFunction
from wiesel.spi.table.catalog import ObjectIdentifier
from wiesel.types.logical import RowType, quoted

__all__ = ["AnyFunction", "UserFunctions", "UserTableFunction"]


@dataclass(frozen=True)
class UserTableFunction:
    """A function of the user that returns rows.

    Attributes:
        listing: Returns them as an array.
        row_type: Their columns.
    """

    listing: UserFunction
    row_type: RowType

    @property
    def name(self) -> str:
        """The name in messages."""
        return self.listing.name


AnyFunction: TypeAlias = UserFunction | UserTableFunction | UserAggregate | UserProcessFunction | ModuleFunction
"""Whatever users give a name to."""


class UserFunctions:
    """Functions of an environment: temporary ones of the system, which come before Flink's own, and those of a database."""

    def __init__(self) -> None:
        self._of_system: dict[str, AnyFunction] = {}
        self._of_databases: dict[tuple[str, str, str], AnyFunction] = {}

    @property
    def of_system(self) -> dict[str, AnyFunction]:
        """The temporary functions of the system, by their names in capitals."""
        return dict(self._of_system)

    def visible(self, catalog: str, database: str) -> dict[str, AnyFunction]:
        """Return the functions that have a name of one part in a database, by their names in capitals."""
        own = {name: function for (*place, name), function in self._of_databases.items() if place == [catalog, database]}
        return {**own, **self._of_system}

    def create_of_system(self, name: str, function: AnyFunction, *, if_not_exists: bool = False) -> None:
        """Add a temporary function of the system.

        Raises:
            ProgramError: If there is one of the name.
        """
        if name.upper() in self._of_system and not if_not_exists:
            raise ProgramError(f"there is a function {quoted(name)} already", hint="drop it first: DROP TEMPORARY SYSTEM FUNCTION")
        self._of_system.setdefault(name.upper(), function)

    def create(self, identifier: ObjectIdentifier, function: AnyFunction, *, if_not_exists: bool = False) -> None:
        """Add a function of a database.

        Raises:
            ProgramError: If there is one of the name.
        """
        key = _key(identifier)
        if key in self._of_databases and not if_not_exists:
            raise ProgramError(f"there is a function {identifier.sql} already", hint="drop it first, or give the new one another name")
        self._of_databases.setdefault(key, function)

    def drop_of_system(self, name: str, *, if_exists: bool) -> bool:
        """Remove a temporary function of the system; returns whether it was there.

        Raises:
            ProgramError: If it is not there and ``if_exists`` is not set.
        """
        if name.upper() not in self._of_system and not if_exists:
            raise ProgramError(f"there is no temporary system function {quoted(name)}", hint=self._near(name))
        return self._of_system.pop(name.upper(), None) is not None

    def drop(self, identifier: ObjectIdentifier, *, if_exists: bool) -> bool:
        """Remove a function of a database; returns whether it was there.

        Raises:
            ProgramError: If it is not there and ``if_exists`` is not set.
        """
        key = _key(identifier)
        if key not in self._of_databases and not if_exists:
            raise ProgramError(f"there is no function {identifier.sql}", hint=self._near(identifier.object_name))
        return self._of_databases.pop(key, None) is not None

    def _near(self, name: str) -> str:
        known = [*self._of_system, *(key[-1] for key in self._of_databases)]
        near = difflib.get_close_matches(name.upper(), known, n=1)
        return f"did you mean {quoted(near[0].lower())}?" if near else "SHOW USER FUNCTIONS tells those that there are"


def _key(identifier: ObjectIdentifier) -> tuple[str, str, str]:
    return identifier.catalog_name, identifier.database_name, identifier.object_name.upper()
