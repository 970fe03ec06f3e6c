"""Schemas of tables: the names of ``pyflink.table.schema``."""

from wiesel.spi.table.schema import Schema

__all__ = ["Schema"]
