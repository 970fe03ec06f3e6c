"""The languages of statements: the names of ``pyflink.table.sql_dialect``."""

__all__ = ["SqlDialect"]


class SqlDialect:
    """SQL dialect of statements."""

    DEFAULT = 0
    HIVE = 1
