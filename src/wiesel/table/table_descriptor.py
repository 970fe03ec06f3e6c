"""Descriptions of tables and formats in programs: what ``CREATE TABLE`` is in SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wiesel.core.argument_checks import require_built, require_instance
from wiesel.core.config import ConfigOption
from wiesel.core.errors import ProgramError
from wiesel.core.option_values import to_text
from wiesel.core.user_location import program_error
from wiesel.spi.table.catalog import CatalogTable
from wiesel.spi.table.factory import CONNECTOR
from wiesel.spi.table.schema import PhysicalColumn, ResolvedSchema, Schema
from wiesel.sql.ddl.definitions import checked_schema
from wiesel.types.logical import quoted

__all__ = ["FormatDescriptor", "TableDescriptor", "key_and_text", "options_text"]

_FORMAT = ConfigOption[str]("format", description="The format of a table's rows.")


def key_and_text(key: str | ConfigOption[Any], value: Any) -> tuple[str, str]:
    """An option as a catalog keeps it: values are strings."""
    require_instance(key, (str, ConfigOption), "the key of an option", "give a text or a ConfigOption")
    name = key.key if isinstance(key, ConfigOption) else key
    if value is None:
        raise program_error(f"option {name!r} has no value", "give a value, or leave the option out")
    return name, to_text(value)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def options_text(options: Mapping[str, str]) -> str:
    """Return options as SQL writes them."""
    lines = ",\n".join(f"  {_literal(key)} = {_literal(value)}" for key, value in sorted(options.items()))
    return f"WITH (\n{lines}\n)"


class TableDescriptor:
    """Describes a table: its connector with its options, its schema and more. Made by :meth:`for_connector`.

    >>> print(TableDescriptor.for_connector("datagen").schema(Schema.new_builder().column("n", "INT").build()).build())
    (
      `n` [INT]
    )
    WITH (
      'connector' = 'datagen'
    )
    """

    def __init__(self, schema: Schema | None, options: Mapping[str, str], partition_keys: Sequence[str], comment: str | None) -> None:
        self._schema = schema
        self._options = dict(options)
        self._partition_keys = list(partition_keys)
        self._comment = comment

    @staticmethod
    def for_connector(connector: str) -> TableDescriptor.Builder:
        """Return a builder of a table that is read and written through this connector."""
        require_instance(connector, str, "a connector's name", "give a text, for example 'datagen'")
        return TableDescriptor.Builder(connector)

    def get_schema(self) -> Schema | None:
        """Return the schema, if there is one."""
        return self._schema

    def get_options(self) -> dict[str, str]:
        """Return the options, the connector among them."""
        return dict(self._options)

    def get_partition_keys(self) -> list[str]:
        """Return the names of the columns by which the table is partitioned."""
        return list(self._partition_keys)

    def get_comment(self) -> str | None:
        """Return the comment, if there is one."""
        return self._comment

    def _to_catalog_table(self, made_at: str, derived: ResolvedSchema | None = None) -> CatalogTable:
        """Return what a catalog keeps; ``derived`` is the schema if the descriptor has none."""
        if self._schema is None and derived is None:
            raise ProgramError(
                "the table's descriptor has no schema", hint="call .schema(Schema.new_builder().column(...).build()) before build()"
            )
        schema = self._schema.resolve() if self._schema is not None else derived
        assert schema is not None  # noqa: S101 - for the type checker
        stored = [column.name for column in schema.columns if isinstance(column, PhysicalColumn)]
        for key in self._partition_keys:
            if key not in stored:
                raise ProgramError(f"partition key {quoted(key)} is not a stored column of the table", hint=f"use one of {stored}")
        if schema.watermark is not None or schema.has_computed_columns:
            schema = checked_schema(schema.columns, schema.primary_key, schema.watermark, as_written=True)
        return CatalogTable(schema, self.get_options(), tuple(self._partition_keys), self._comment, made_at)

    def __str__(self) -> str:
        parts = [] if self._schema is None else [str(self._schema)]
        if self._comment is not None:
            parts.append(f"COMMENT '{self._comment}'")
        if self._partition_keys:
            parts.append(f"PARTITIONED BY ({', '.join(map(quoted, self._partition_keys))})")
        return "\n".join([*parts, options_text(self._options)])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TableDescriptor) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((self._schema, frozenset(self._options.items()), tuple(self._partition_keys), self._comment))

    class Builder:
        """Builder of a :class:`TableDescriptor`."""

        def __init__(self, connector: str) -> None:
            self._schema: Schema | None = None
            self._options = {CONNECTOR.key: connector}
            self._partition_keys: list[str] = []
            self._comment: str | None = None

        def schema(self, schema: Schema) -> TableDescriptor.Builder:
            """Set the schema."""
            require_built(schema, Schema, "schema()")
            self._schema = schema
            return self

        def option(self, key: str | ConfigOption[Any], value: Any) -> TableDescriptor.Builder:
            """Set an option of the connector."""
            name, text = key_and_text(key, value)
            self._options[name] = text
            return self

        def format(self, format: str | FormatDescriptor, format_option: ConfigOption[str] | None = None) -> TableDescriptor.Builder:  # noqa: A002
            """Set the format of the rows, and its options.

            Args:
                format: Its name, or a descriptor of it.
                format_option: Where the connector looks for the format: ``format`` or an option that ends with ``.format``.
            """
            require_instance(format, (str, FormatDescriptor), "a format", "give its name or a FormatDescriptor")
            key = (_FORMAT if format_option is None else format_option).key
            if key != _FORMAT.key and not key.endswith(f".{_FORMAT.key}"):
                raise program_error(f"{key!r} is no option for a format", "use 'format' or an option that ends with '.format'")
            descriptor = FormatDescriptor(format, {}) if isinstance(format, str) else format
            prefix = key[: -len(_FORMAT.key)] + descriptor.get_format()
            self._options[key] = descriptor.get_format()
            self._options.update({f"{prefix}.{name}": value for name, value in descriptor.get_options().items()})
            return self

        def partitioned_by(self, *partition_keys: str) -> TableDescriptor.Builder:
            """Add columns by whose values the rows are kept apart."""
            for key in partition_keys:
                require_instance(key, str, "a partition key", "give the name of a column")
            self._partition_keys += partition_keys
            return self

        def comment(self, comment: str) -> TableDescriptor.Builder:
            """Say what the table is about."""
            require_instance(comment, str, "a comment", "give a text")
            self._comment = comment
            return self

        def build(self) -> TableDescriptor:
            """Return the descriptor."""
            return TableDescriptor(self._schema, self._options, self._partition_keys, self._comment)


class FormatDescriptor:
    """Describes a format and its options, whose keys lack the format's name. Made by :meth:`for_format`."""

    def __init__(self, format: str, options: Mapping[str, str]) -> None:  # noqa: A002 - PyFlink's name
        self._format = format
        self._options = dict(options)

    @staticmethod
    def for_format(format: str) -> FormatDescriptor.Builder:  # noqa: A002 - PyFlink's name
        """Return a builder for this format."""
        require_instance(format, str, "a format's name", "give a text, for example 'json'")
        return FormatDescriptor.Builder(format)

    def get_format(self) -> str:
        """Return the format's name."""
        return self._format

    def get_options(self) -> dict[str, str]:
        """Return the options."""
        return dict(self._options)

    def __str__(self) -> str:
        return f"{self._format}[{{{', '.join(f'{key}={value}' for key, value in sorted(self._options.items()))}}}]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FormatDescriptor) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((self._format, frozenset(self._options.items())))

    class Builder:
        """Builder of a :class:`FormatDescriptor`."""

        def __init__(self, format: str) -> None:  # noqa: A002 - PyFlink's name
            self._format = format
            self._options: dict[str, str] = {}

        def option(self, key: str | ConfigOption[Any], value: Any) -> FormatDescriptor.Builder:
            """Set an option of the format."""
            name, text = key_and_text(key, value)
            self._options[name] = text
            return self

        def build(self) -> FormatDescriptor:
            """Return the descriptor."""
            return FormatDescriptor(self._format, self._options)
