"""Internal. Name resolution in Hive queries: names are case-insensitive, and functions are those of Hive."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from wiesel.columnar.expressions import InputRef
from wiesel.columnar.functions.registry import cast
from wiesel.columnar.functions.user_functions import ModuleFunction
from wiesel.sql.catalog.modules import hive_functions, refused_functions
from wiesel.sql.hive.functions import dialect_functions
from wiesel.sql.plan.relations import Field, Project, Relation
from wiesel.types import logical as t

if TYPE_CHECKING:
    from wiesel.spi.table.catalog import CatalogModel, ObjectIdentifier
    from wiesel.sql.binding.queries import Tables
    from wiesel.sql.catalog.user_functions import AnyFunction

__all__ = ["HiveTables"]


class HiveTables:
    """Tables and functions as queries of Hive find them: columns are called in lower case."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    @property
    def in_batch(self) -> bool:
        """Return whether queries run in batch mode."""
        return self._tables.in_batch

    @cached_property
    def user_functions(self) -> Mapping[str, AnyFunction]:
        """Functions of users, then those of the dialect."""
        known = self._tables.user_functions
        own = {name: known[name] for name in known if not isinstance(known[name], ModuleFunction) or name == "CURRENT_DATABASE"}
        return {**hive_functions(), **refused_functions(), **dialect_functions(), **own}

    def relation(self, path: tuple[str, ...], options: Mapping[str, str]) -> Relation:
        """Return what a table is read by, whatever the capitals of its name and those of its columns."""
        return _in_lower_case(self._tables.relation(self._tables.spelled(path), options))

    def spelled(self, path: tuple[str, ...]) -> tuple[str, ...]:
        """Return a path with the capitals of the table that it means."""
        return self._tables.spelled(path)

    def model(self, path: tuple[str, ...]) -> tuple[ObjectIdentifier, CatalogModel]:
        """Return a model."""
        return self._tables.model(path)


def _in_lower_case(relation: Relation) -> Relation:
    fields = tuple(Field(field.name.lower(), _lowered(field.data_type), field.time) for field in relation.fields)
    if fields == relation.fields:
        return relation
    refs = (InputRef(field.data_type, index, field.name) for index, field in enumerate(relation.fields))
    return Project(relation, tuple(cast(ref, field.data_type) for ref, field in zip(refs, fields, strict=True)), fields)


def _lowered(of: t.DataType) -> t.DataType:
    """Return a type whose rows have fields with names in lower case."""
    if isinstance(of, t.RowType):
        fields = [t.RowField(field.name.lower(), _lowered(field.data_type)) for field in of]
        return of if fields == list(of) else t.RowType(fields, of.is_nullable)
    if isinstance(of, t.ArrayType):
        element = _lowered(of.element_type)
        return of if element is of.element_type else t.ArrayType(element, of.is_nullable)
    return of
