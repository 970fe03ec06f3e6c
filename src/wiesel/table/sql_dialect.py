"""The languages of statements: the names of ``pyflink.table.sql_dialect``."""

__all__ = ["SqlDialect"]


class SqlDialect:
    """Which language statements are in; functions of Hive are there with ``LOAD MODULE hive`` in Flink's."""

    DEFAULT = 0
    HIVE = 1
