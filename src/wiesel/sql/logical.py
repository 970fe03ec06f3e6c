"""Internal. Plans of tables: what a table is read from and what is done to it, as plain data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from wiesel.datastream import DataStream
from wiesel.spi.table.catalog import CatalogTable, ObjectIdentifier
from wiesel.spi.table.schema import ResolvedSchema

__all__ = ["LogicalPlan", "StreamScan", "TableScan"]


class LogicalPlan(ABC):
    """A node of a plan."""

    @property
    @abstractmethod
    def schema(self) -> ResolvedSchema:
        """The columns of the result."""


@dataclass(frozen=True)
class TableScan(LogicalPlan):
    """Reads a table of a catalog."""

    identifier: ObjectIdentifier
    table: CatalogTable

    @property
    def schema(self) -> ResolvedSchema:
        """The columns of the table."""
        return self.table.schema


@dataclass(frozen=True)
class StreamScan(LogicalPlan):
    """Reads a stream."""

    stream: DataStream
    columns: ResolvedSchema

    @property
    def schema(self) -> ResolvedSchema:
        """The fields of the stream's records."""
        return self.columns
