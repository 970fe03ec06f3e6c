"""Tables by name."""

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
        comment: What it is about.
    """

    properties: Mapping[str, str]
    comment: str | None = None


@dataclass(frozen=True)
class CatalogTable:
    """Metadata of a table in a catalog.

    Attributes:
        schema: Its columns, of known types.
        options: What the connector and format are told; ``connector`` among them.
        partition_keys: Columns by whose values its rows are kept apart.
        comment: What it is about.
        made_at: ``file:line`` of the call that made it; empty if it is not known.
    """

    schema: ResolvedSchema
    options: Mapping[str, str]
    partition_keys: tuple[str, ...] = ()
    comment: str | None = None
    made_at: str = field(default="", compare=False)
    metadata: Mapping[str, str] = field(default_factory=dict)
    """For connectors: columns of the schema that are metadata, with the connector's names for them. Catalogs keep it empty."""
    statistics: Mapping[tuple[str | None, ...], TableStatistics] = field(default_factory=dict, compare=False)
    """Results of ANALYZE TABLE by the partition key values as strings (None for NULL); ``()`` for tables without partitions."""
    partitions: Mapping[tuple[str, ...], CatalogPartition] = field(default_factory=dict, compare=False)
    """Partitions registered in the catalog, by the values of the partition keys."""


@dataclass(frozen=True)
class CatalogView:
    """A query with a name, read anew wherever the view is used.

    Attributes:
        query: The query as it was written.
        expanded: The query with full names and named columns, for SHOW CREATE VIEW; None if it is not known.
        current: The catalog and database by which names in it are completed.
        schema: Its columns when it was made.
        comment: What it is about.
        made_at: ``file:line`` of the call that made it; empty if it is not known.
        options: What programs keep with it; they mean nothing to the view.
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
        inputs: The columns that it is asked with.
        outputs: The columns that it returns.
        options: What its provider is told; ``provider`` among them.
        comment: What it is about.
    """

    inputs: ResolvedSchema
    outputs: ResolvedSchema
    options: Mapping[str, str]
    comment: str | None = None
