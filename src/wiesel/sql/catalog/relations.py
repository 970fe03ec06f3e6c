"""Internal. Reads tables and views of catalogs as relations."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from wiesel.columnar.expressions import Call, Expression, InputRef, Literal
from wiesel.columnar.functions.registry import cast
from wiesel.columnar.functions.user_functions import ModuleFunction
from wiesel.core.errors import ProgramError, SqlParseError
from wiesel.spi.table.catalog import CatalogModel, CatalogTable, CatalogView, ObjectIdentifier
from wiesel.spi.table.schema import Column, ComputedColumn
from wiesel.sql.binding.expressions import ExpressionBinder
from wiesel.sql.binding.queries import QueryBinder
from wiesel.sql.binding.scope import Scope, Source
from wiesel.sql.catalog.catalogs import PlanView
from wiesel.sql.catalog.core_functions import CORE_FUNCTIONS
from wiesel.sql.catalog.manager import CatalogManager
from wiesel.sql.catalog.named_models import CatalogModels
from wiesel.sql.catalog.table_factories import with_metadata
from wiesel.sql.catalog.user_functions import AnyFunction
from wiesel.sql.ddl.definitions import is_source_watermark
from wiesel.sql.ddl.watermark_options import emission_of
from wiesel.sql.language import statements
from wiesel.sql.language.cursor import Cursor
from wiesel.sql.language.parser import DEFAULT_DIALECT, VIEW_DIALECT, parse_in_dialect
from wiesel.sql.plan.relations import Field, Project, Relation, TableScan, TimeAttribute, WatermarkAssigner
from wiesel.types.logical import MAX_LENGTH, DataType, VarCharType

__all__ = ["CatalogTables", "bind_text", "renamed", "table_relation", "with_computed"]


class CatalogTables:
    """The tables of an environment, for queries.

    Args:
        catalogs: What the environment knows.
        current: The catalog and database by which names are completed; those of the environment if it is None.
        within: The views that are being read, to find those that read themselves.
        in_batch: Whether queries run in batch mode.
    """

    def __init__(
        self,
        catalogs: CatalogManager,
        current: tuple[str, str] | None = None,
        within: tuple[ObjectIdentifier, ...] = (),
        *,
        in_batch: bool,
    ) -> None:
        self._catalogs = catalogs
        self.in_batch = in_batch
        self._current = current
        self._within = within

    def relation(self, path: tuple[str, ...], options: Mapping[str, str] = MappingProxyType({})) -> Relation:
        """Return what a table or view is read by.

        Args:
            path: Its name.
            options: Options of the table besides or in place of its own.

        Raises:
            ProgramError: If there is none; tells those there are. If it is a view, and there are options.
        """
        identifier, entry = self._catalogs.find(path, self._current)
        if options:
            if not isinstance(entry, CatalogTable):
                raise ProgramError(f"{identifier.sql} is a view, and has no options", hint="give them to the tables that it reads")
            entry = replace(entry, options={**entry.options, **options})
        if isinstance(entry, PlanView):
            return entry.plan
        if isinstance(entry, CatalogView):
            return self._view(identifier, entry)
        return table_relation(identifier, entry, in_batch=self.in_batch)

    def columns_of(self, path: tuple[str, ...]) -> tuple[str, list[str]]:
        """Return the full name of a table or view with backquotes, and the names of its columns.

        Raises:
            ProgramError: If there is none.
        """
        identifier, entry = self._catalogs.find(path, self._current)
        if isinstance(entry, PlanView):
            return identifier.sql, [field.name for field in entry.plan.fields]
        return identifier.sql, [column.name for column in entry.schema.columns]

    @property
    def user_functions(self) -> Mapping[str, AnyFunction]:
        """The functions that are called by one name, in Flink's order: temporary system functions, those of modules, those of databases.

        Flink's own functions are not among them, but hide those of databases that have their names.
        """
        modules, own = self._catalogs.modules, self._catalogs.visible_functions(*(self._current or self._catalogs.current))
        of_database = _Others(own, CORE_FUNCTIONS if "core" in modules.used() else frozenset())
        named = {"CURRENT_DATABASE": ModuleFunction(self._current_database)}
        return ChainMap(self._catalogs.functions.of_system, modules.functions(), named, of_database)  # type: ignore[arg-type]

    def _current_database(self, operands: Sequence[Expression]) -> Expression:
        if operands:
            raise ProgramError("CURRENT_DATABASE() takes no arguments", hint="leave them out")
        return Literal(VarCharType(MAX_LENGTH, False), self._catalogs.current[1])

    def spelled(self, path: tuple[str, ...]) -> tuple[str, ...]:
        """Return the path of a table with its capitals, where the one given has others; itself if there is no such table."""
        return self._catalogs.spelled(path, self._current)

    def model(self, path: tuple[str, ...]) -> tuple[ObjectIdentifier, CatalogModel]:
        """Return the full name of a model, and the model.

        Raises:
            ProgramError: If there is none; tells those there are.
        """
        identifier = self._catalogs.qualify(path, self._current)
        return CatalogModels(self._catalogs).find((identifier.catalog_name, identifier.database_name, identifier.object_name))[:2]

    def _view(self, identifier: ObjectIdentifier, view: CatalogView) -> Relation:
        if identifier in self._within:
            raise ProgramError(f"view {identifier.sql} reads itself", hint="drop it and create it with another query")
        tables = CatalogTables(self._catalogs, view.current, (*self._within, identifier), in_batch=self.in_batch)
        try:
            statement = parse_in_dialect(view.query, view.options.get(VIEW_DIALECT, DEFAULT_DIALECT))
            assert isinstance(statement, statements.Query)  # noqa: S101 - for the type checker
            plan = QueryBinder(view.query, tables).bind(statement.tree)
        except SqlParseError as error:
            raise ProgramError(f"in view {identifier.sql}: {error.message}", hint=error.hint) from error
        return renamed(plan, [column.name for column in view.schema.columns])


class _Others(Mapping[str, AnyFunction]):
    """Functions but those of certain names."""

    def __init__(self, functions: Mapping[str, AnyFunction], without: Collection[str]) -> None:
        self._functions = functions
        self._without = without

    def __getitem__(self, name: str) -> AnyFunction:
        if name in self._without:
            raise KeyError(name)
        return self._functions[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._functions if name not in self._without)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def renamed(relation: Relation, names: list[str], *, nullable: bool = False) -> Relation:
    """Return a relation with other names of its columns, whose types are ``nullable`` then if that is asked for.

    Raises:
        ProgramError: If there are not as many names as columns.
    """
    fields = relation.fields
    if len(fields) != len(names):
        raise ProgramError(f"the query returns {len(fields)} columns, but there are {len(names)} names", hint="name each column once")
    types = [field.data_type.nullable() if nullable else field.data_type for field in fields]
    columns = tuple(replace(field, name=name, data_type=of) for field, name, of in zip(fields, names, types, strict=True))
    if columns == fields:
        return relation
    return Project(relation, _columns(fields), columns)


def _columns(fields: tuple[Field, ...]) -> tuple[Expression, ...]:
    return tuple(InputRef(field.data_type, index, field.name) for index, field in enumerate(fields))


def bind_text(text: str, fields: tuple[Field, ...]) -> Expression:
    """Return the expression of a text over columns."""
    return ExpressionBinder(text, Scope([Source(None, fields, 0)])).bind(Cursor(text).expression())


def table_relation(identifier: ObjectIdentifier, table: CatalogTable, *, in_batch: bool) -> Relation:
    """Return the scan of a table, with computed columns and the watermark above it.

    Raises:
        ProgramError: If it wants the watermarks of its connector, and runs in streaming mode: no connector has its own.
    """
    schema = table.schema
    emission = emission_of(table)
    relation = _scan(identifier, table)
    if schema.has_computed_columns:
        relation = with_computed(relation, schema.columns)
    if schema.watermark is not None:
        names = [field.name for field in relation.fields]
        of_source = is_source_watermark(schema.watermark.expression)
        if of_source and not in_batch:
            raise ProgramError(
                f"table {identifier.sql}: its connector has no watermarks of its own", hint="write the watermark: ts - INTERVAL '5' SECOND"
            )
        watermark = None if of_source else bind_text(schema.watermark.expression, relation.fields)
        relation = WatermarkAssigner(relation, names.index(schema.watermark.column), watermark, emission)
    return relation


def _scan(identifier: ObjectIdentifier, table: CatalogTable) -> Relation:
    """Return the scan of stored columns and metadata, all of the types that the table declares."""
    scan = TableScan(identifier, with_metadata(identifier, table))
    declared = {column.name: column.data_type for column in table.schema.metadata_columns if isinstance(column.data_type, DataType)}
    fields = [replace(field, data_type=declared.get(field.name, field.data_type)) for field in scan.fields]
    if tuple(fields) == scan.fields:
        return scan
    columns = (
        InputRef(field.data_type, index, field.name) if field == read else cast(InputRef(read.data_type, index, read.name), field.data_type)
        for index, (field, read) in enumerate(zip(fields, scan.fields, strict=True))
    )
    return Project(scan, tuple(columns), tuple(fields))


def with_computed(scan: Relation, columns_of: Sequence[Column]) -> Relation:
    """Return columns of a relation, by their names, and those computed of its columns."""
    stored = scan.fields
    places = {field.name: index for index, field in enumerate(stored)}
    expressions: list[Expression] = []
    columns: list[Field] = []
    for column in columns_of:
        if isinstance(column, ComputedColumn):
            bound = bind_text(column.expression, stored)
            time = TimeAttribute.PROCTIME if isinstance(bound, Call) and bound.function == "PROCTIME" else None
            columns.append(Field(column.name, bound.data_type, time))
        else:
            index = places[column.name]
            bound = InputRef(stored[index].data_type, index, column.name)
            columns.append(stored[index])
        expressions.append(bound)
    return Project(scan, tuple(expressions), tuple(columns))
