"""Internal. Statements about models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wiesel.core.errors import ProgramError
from wiesel.spi.table.catalog import CatalogModel
from wiesel.spi.table.schema import PhysicalColumn, ResolvedSchema
from wiesel.sql.catalog.named_models import CatalogModels
from wiesel.sql.ddl.definitions import checked_schema
from wiesel.sql.language import statements as s

if TYPE_CHECKING:
    from wiesel.table.table_environment import TableEnvironment

__all__ = ["alter_model", "checked_model", "create_model", "drop_model"]


def checked_model(inputs: ResolvedSchema, outputs: ResolvedSchema, options: dict[str, str], comment: str | None) -> CatalogModel:
    """Return a model.

    Raises:
        ProgramError: If it has no options, or inputs without outputs or the other way round.
    """
    if not options:
        raise ProgramError("a model needs options", hint="write WITH ('provider' = '...'), which says who is asked")
    if bool(inputs.columns) != bool(outputs.columns):
        there, missing = ("inputs", "outputs") if inputs.columns else ("outputs", "inputs")
        raise ProgramError(f"the model has {there}, but no {missing}", hint="write both: INPUT (a STRING) OUTPUT (b STRING)")
    return CatalogModel(inputs, outputs, options, comment)


def create_model(t_env: TableEnvironment, sql: str, statement: s.CreateModel) -> None:
    """Run CREATE MODEL."""
    model = checked_model(_schema(statement.inputs), _schema(statement.outputs), dict(statement.options), statement.comment)
    identifier = t_env._catalogs.qualify(statement.path)
    models = CatalogModels(t_env._catalogs)
    models.create(identifier, model, temporary=statement.is_temporary, ignore_if_exists=statement.if_not_exists)


def _schema(columns: Sequence[s.ColumnDefinition]) -> ResolvedSchema:
    stored = []
    for column in columns:
        if not isinstance(column, s.PhysicalColumnDefinition):
            raise ProgramError(f"column {column.name!r} of a model has no type", hint="write a name and a type")
        stored.append(PhysicalColumn(column.name, column.data_type, column.comment))
    return checked_schema(stored, None, None)


def drop_model(t_env: TableEnvironment, statement: s.Drop) -> None:
    """Run DROP MODEL."""
    identifier = t_env._catalogs.qualify(statement.path)
    CatalogModels(t_env._catalogs).drop(identifier, temporary=statement.is_temporary, if_exists=statement.if_exists)


def alter_model(t_env: TableEnvironment, sql: str, statement: s.AlterModel) -> None:
    """Run ALTER MODEL."""
    models = CatalogModels(t_env._catalogs)
    try:
        identifier, model, temporary = models.find(statement.path)
    except ProgramError:
        if statement.if_exists:
            return
        raise
    if temporary:
        raise ProgramError(f"model {identifier.sql} is temporary, so it cannot be changed", hint="drop it, and create it anew")
    change = statement.change
    if isinstance(change, s.Rename):
        target = t_env._catalogs.qualify(change.path, (identifier.catalog_name, identifier.database_name))
        models.rename(identifier, target, model)
    elif isinstance(change, s.SetOptions):
        models.with_options(identifier, model, dict(change.options))
    elif isinstance(change, s.ResetOptions):
        models.with_options(identifier, model, dict.fromkeys(change.keys))
