"""Entries of catalogs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from wiesel.spi.table.schema import ResolvedSchema
from wiesel.spi.table.statistics import TableStatistics
from wiesel.types.logical import quoted

__all__ = ["CatalogModel", "CatalogPartition", "CatalogTable", "CatalogView", "ObjectIdentifier"]


@dataclass(frozen=True)
class ObjectIdentifier:
    """The full name of a table."""

    catalog_name: str
    database_name: str
    object_name: str

    @property
    def sql(self) -> str:
        """The name as SQL writes it, all parts quoted."""
        return ".".join(map(quoted, (self.catalog_name, self.database_name, self.object_name)))

    def __str__(self) -> str:
        return f"{self.catalog_name}.{self.database_name}.{self.object_name}"


@dataclass(frozen=True)
class CatalogPartition:
    """Metadata of a partition of a table in a catalog; the rows of the table do not depend on it.

    Attributes:
        properties: Its properties.
        comment: Description.
    """

    properties: Mapping[str, str]
    comment: str | None = None


@dataclass(frozen=True)
class CatalogTable:
    """Metadata of a table in a catalog.

    Attributes:
        schema: Its columns, of known types.
        options: Options of the connector and format, including ``connector``.
        partition_keys: Partition columns.
        comment: Description.
        made_at: ``file:line`` of the creating call; empty if unknown.
    """

    schema: ResolvedSchema
    options: Mapping[str, str]
    partition_keys: tuple[str, ...] = ()
    comment: str | None = None
    made_at: str = field(default="", compare=False)
    metadata: Mapping[str, str] = field(default_factory=dict)
    """For connectors: metadata columns of the schema, with the connector's keys. Empty in catalogs."""
    statistics: Mapping[tuple[str | None, ...], TableStatistics] = field(default_factory=dict, compare=False)
    """Results of ANALYZE TABLE by the partition key values as strings (None for NULL); ``()`` for tables without partitions."""
    partitions: Mapping[tuple[str, ...], CatalogPartition] = field(default_factory=dict, compare=False)
    """Partitions registered in the catalog, by the values of the partition keys."""


@dataclass(frozen=True)
class CatalogView:
    """A named query, expanded wherever the view is used.

    Attributes:
        query: The original query.
        expanded: The query with full names and named columns, for SHOW CREATE VIEW; None if unknown.
        current: The catalog and database that qualify names in it.
        schema: Its columns at creation.
        comment: Description.
        made_at: ``file:line`` of the creating call; empty if unknown.
        options: Options stored by programs; without effect on the view.
    """

    query: str
    current: tuple[str, str]
    schema: ResolvedSchema
    comment: str | None = None
    made_at: str = field(default="", compare=False)
    options: Mapping[str, str] = field(default_factory=dict)
    expanded: str | None = None


@dataclass(frozen=True)
class CatalogModel:
    """Metadata of a model in a catalog.

    Attributes:
        inputs: The input columns.
        outputs: The output columns.
        options: Options of the provider, including ``provider``.
        comment: Description.
    """

    inputs: ResolvedSchema
    outputs: ResolvedSchema
    options: Mapping[str, str]
    comment: str | None = None
