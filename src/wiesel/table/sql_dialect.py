"""The languages of statements: the names of ``pyflink.table.sql_dialect``."""

__all__ = ["SqlDialect"]


class SqlDialect:
    """Which language statements are in."""

    DEFAULT = 0
    HIVE = 1
