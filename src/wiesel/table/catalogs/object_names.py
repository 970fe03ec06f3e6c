"""Internal. Names of what is in catalogs, as ``wiesel.table.catalog`` hands them out."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from wiesel.core.argument_checks import require_instance
from wiesel.core.errors import ProgramError
from wiesel.spi.table import catalog as names

__all__ = ["CatalogPartitionSpec", "ObjectIdentifier", "ObjectPath"]


@functools.total_ordering
class ObjectPath:
    """The name of a table, view, function or model in a catalog: that of its database, and its own."""

    def __init__(self, database_name: str | None = None, object_name: str | None = None) -> None:
        if not database_name or not object_name:
            raise ProgramError("an ObjectPath has two names", hint="give the name of the database, and that of the object")
        self._database, self._object = database_name, object_name

    @staticmethod
    def from_string(full_name: str) -> ObjectPath:
        """Return the path of ``database.object``.

        Raises:
            ProgramError: If there are not two names.
        """
        parts = full_name.split(".")
        if len(parts) != 2:  # noqa: PLR2004 - as the message says
            raise ProgramError(f"{full_name!r} is no path", hint="write database.object")
        return ObjectPath(*parts)

    def get_database_name(self) -> str:
        """Return the name of the database."""
        return self._database

    def get_object_name(self) -> str:
        """Return the name of the object."""
        return self._object

    def get_full_name(self) -> str:
        """Return both names with a point between them."""
        return f"{self._database}.{self._object}"

    def compare_to(self, other: ObjectPath) -> int:
        """Return a number below 0, 0 or one above it if this path is in front of, the same as or behind another one."""
        return (self._names > other._names) - (self._names < other._names)

    @property
    def _names(self) -> tuple[str, str]:
        return self._database, self._object

    def __str__(self) -> str:
        return self.get_full_name()

    def __hash__(self) -> int:
        return hash(self._names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectPath) and self._names == other._names

    def __lt__(self, other: Any) -> bool:
        return self._names < other._names if isinstance(other, ObjectPath) else NotImplemented


class ObjectIdentifier:
    """The full name of a table, view, function or model. Made by :meth:`of`."""

    def __init__(self, identifier: names.ObjectIdentifier) -> None:
        self._identifier = identifier

    @staticmethod
    def of(catalog_name: str, database_name: str, object_name: str) -> ObjectIdentifier:
        """Return the name of three parts."""
        for what, name in (("catalog", catalog_name), ("database", database_name), ("object", object_name)):
            require_instance(name, str, f"the name of the {what}", "give a text")
        return ObjectIdentifier(names.ObjectIdentifier(catalog_name, database_name, object_name))

    def get_catalog_name(self) -> str:
        """Return the name of the catalog."""
        return self._identifier.catalog_name

    def get_database_name(self) -> str:
        """Return the name of the database."""
        return self._identifier.database_name

    def get_object_name(self) -> str:
        """Return the name of the object."""
        return self._identifier.object_name

    def to_object_path(self) -> ObjectPath:
        """Return the name within the catalog."""
        return ObjectPath(self._identifier.database_name, self._identifier.object_name)

    def to_list(self) -> list[str]:
        """Return the three names."""
        return [self._identifier.catalog_name, self._identifier.database_name, self._identifier.object_name]

    def as_serializable_string(self) -> str:
        """Return the name as SQL writes it, all parts quoted."""
        return self._identifier.sql

    def as_summary_string(self) -> str:
        """Return the three names with points between them."""
        return str(self._identifier)

    def __str__(self) -> str:
        return self._identifier.sql

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectIdentifier) and self._identifier == other._identifier

    def __hash__(self) -> int:
        return hash(self._identifier)


class CatalogPartitionSpec:
    """Identification of a partition of a table: values of the partition columns, in any order.

    Args:
        partition_spec: The values as strings, by the names of the columns.
    """

    def __init__(self, partition_spec: Mapping[str, str]) -> None:
        if not isinstance(partition_spec, Mapping):
            raise ProgramError(f"a CatalogPartitionSpec was made of {partition_spec!r}", hint="give a dict of columns and their values")
        self._spec = dict(partition_spec)

    def get_partition_spec(self) -> dict[str, str]:
        """Return the values by the names of the columns."""
        return dict(self._spec)

    def __str__(self) -> str:
        return f"CatalogPartitionSpec{{{{{', '.join(f'{key}={value}' for key, value in self._spec.items())}}}}}"

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CatalogPartitionSpec) and self._spec == other._spec

    def __hash__(self) -> int:
        return hash(frozenset(self._spec.items()))
