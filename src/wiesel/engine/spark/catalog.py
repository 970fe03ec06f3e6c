"""Internal. The tables of the Spark session as a catalog: file tables become tables of the connector ``filesystem``.

Spark has the location and schema of a table; its files are read and written by Wiesel's tasks, as columns and exactly once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import types as spark

from wiesel.core.config import Configuration
from wiesel.core.errors import ProgramError
from wiesel.engine.spark.session import spark_session
from wiesel.spi.table.catalog import CatalogTable
from wiesel.spi.table.schema import PhysicalColumn, ResolvedSchema
from wiesel.sql.catalog.catalogs import Catalog, CatalogEntry, Database
from wiesel.sql.catalog.factories import unknown_options
from wiesel.types import logical as t
from wiesel.types.logical import quoted

__all__ = ["SparkCatalog"]

_FORMATS = ("parquet", "json", "csv", "orc", "avro")
_DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"
_SIMPLE: dict[type[spark.DataType], t.DataType] = {
    spark.StringType: t.VarCharType(2**31 - 1),
    spark.BinaryType: t.VarBinaryType(2**31 - 1),
    spark.BooleanType: t.BooleanType(),
    spark.ByteType: t.TinyIntType(),
    spark.ShortType: t.SmallIntType(),
    spark.IntegerType: t.IntType(),
    spark.LongType: t.BigIntType(),
    spark.FloatType: t.FloatType(),
    spark.DoubleType: t.DoubleType(),
    spark.DateType: t.DateType(),
    spark.TimestampType: t.LocalZonedTimestampType(6),
    spark.TimestampNTZType: t.TimestampType(6),
}


class SparkCatalog(Catalog):
    """The catalog of the Spark session in which jobs run.

    Args:
        options: ``default-database``.
        comment: Description of the catalog.
    """

    def __init__(self, options: Mapping[str, str], comment: str | None = None) -> None:
        unknown_options(options, {"default-database"})
        self.options = dict(options)
        self.comment = comment
        self.default_database = options.get("default-database", "default")
        self._configuration: Mapping[str, str] = {}

    def configure(self, configuration: Mapping[str, str]) -> None:
        """Set the options for creating a session if there is none yet."""
        self._configuration = configuration

    @property
    def _session(self) -> SparkSession:
        return spark_session(Configuration.from_dict(self._configuration), 1)

    def _run(self, statement: str) -> list[Any]:
        try:
            return self._session.sql(statement).collect()
        except Exception as error:
            message = str(error).splitlines()[0]
            raise ProgramError(f"Spark refuses {statement.splitlines()[0]}: {message}", hint="see what Spark says of it") from error

    @property
    def databases(self) -> Mapping[str, Database]:
        """The databases as they are now."""
        session = self._session
        return {found.name: Database(found.description, {}, _Tables(session, found.name)) for found in session.catalog.listDatabases()}

    def create_database(self, name: str, database: Database, *, ignore_if_exists: bool) -> None:
        """Add a database; its option ``location`` is the folder of its tables."""
        location = database.options.get("location")
        place = f" LOCATION {_literal(location)}" if location else ""
        comment = f" COMMENT {_literal(database.comment)}" if database.comment else ""
        self._run(f"CREATE DATABASE {'IF NOT EXISTS ' if ignore_if_exists else ''}{quoted(name)}{comment}{place}")

    def drop_database(self, name: str, *, if_exists: bool, cascade: bool) -> None:
        """Remove a database."""
        self._run(f"DROP DATABASE {'IF EXISTS ' if if_exists else ''}{quoted(name)} {'CASCADE' if cascade else 'RESTRICT'}")

    def alter_database(self, name: str, comment: str | None, options: Mapping[str, str]) -> None:
        """Set comment and properties of a database; Spark forgets no properties."""
        if options:
            pairs = ", ".join(f"{_literal(key)} = {_literal(value)}" for key, value in options.items())
            self._run(f"ALTER DATABASE {quoted(name)} SET DBPROPERTIES ({pairs})")
        self._run(f"COMMENT ON DATABASE {quoted(name)} IS {_literal(comment) if comment else 'NULL'}")

    def put(self, database: str, name: str, entry: CatalogEntry, *, new: bool = False) -> None:
        """Create a table in Spark."""
        if not isinstance(entry, CatalogTable):
            raise ProgramError("Spark's catalog keeps tables only", hint="make the view temporary, or in another catalog")
        if not new:
            raise ProgramError("a table of Spark cannot be altered from here", hint="alter it in Spark")
        self._run(_create_text(f"{quoted(database)}.{quoted(name)}", entry))

    def remove(self, database: str, name: str) -> None:
        """Drop a table in Spark."""
        self._run(f"DROP TABLE {quoted(database)}.{quoted(name)}")

    def rename(self, database: str, name: str, new_name: str) -> None:
        """Rename a table in Spark, which retains its rows."""
        self._run(f"ALTER TABLE {quoted(database)}.{quoted(name)} RENAME TO {quoted(database)}.{quoted(new_name)}")


class _Tables(Mapping[str, CatalogEntry]):
    """The tables of a database, looked up lazily. Views are Spark's own: their SQL is in its dialect."""

    def __init__(self, session: SparkSession, database: str) -> None:
        self._session = session
        self._database = database
        found = session.catalog.listTables(database)
        self._names = [table.name for table in found if not table.isTemporary and table.tableType != "VIEW"]

    def __getitem__(self, name: str) -> CatalogEntry:
        if name not in self._names:
            raise KeyError(name)
        path = f"{quoted(self._database)}.{quoted(name)}"
        details = self._details(path)
        provider = details.get("Provider", "").lower()
        if provider not in _FORMATS:
            raise ProgramError(
                f"Spark's table {path} is of {provider or 'no provider'}", hint=f"tables of {', '.join(_FORMATS)} can be used"
            )
        if "header=true" in details.get("Storage Properties", "").replace(" ", "").lower():
            raise ProgramError(f"Spark's table {path} has files with headers", hint="use files of another format")
        schema = self._session.table(path).schema
        columns = tuple(PhysicalColumn(field.name, _data_type(field.dataType)) for field in schema.fields)
        keys = tuple(column.name for column in self._session.catalog.listColumns(path) if column.isPartition)
        options = {
            "connector": "filesystem",
            "path": details["Location"],
            "format": provider,
            "partition.default-name": _DEFAULT_PARTITION,
        }
        return CatalogTable(ResolvedSchema(columns), options, keys, details.get("Comment"))

    def _details(self, path: str) -> dict[str, str]:
        rows = [(row[0], row[1]) for row in self._session.sql(f"DESCRIBE TABLE EXTENDED {path}").collect()]
        start = next((place for place, row in enumerate(rows) if row[0] == "# Detailed Table Information"), len(rows))
        return dict(rows[start + 1 :])

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _data_type(of: spark.DataType) -> t.DataType:
    if isinstance(of, spark.DecimalType):
        return t.DecimalType(of.precision, of.scale)
    if isinstance(of, spark.CharType):
        return t.CharType(of.length)
    if isinstance(of, spark.VarcharType):
        return t.VarCharType(of.length)
    if isinstance(of, spark.ArrayType):
        return t.ArrayType(_data_type(of.elementType))
    if isinstance(of, spark.MapType):
        return t.MapType(_data_type(of.keyType), _data_type(of.valueType))
    if isinstance(of, spark.StructType):
        return t.RowType([t.RowField(field.name, _data_type(field.dataType)) for field in of.fields])
    if type(of) not in _SIMPLE:
        raise ProgramError(f"there is no type of columns for Spark's {of.simpleString()}", hint="leave the column out by a view in Spark")
    return _SIMPLE[type(of)]


def _create_text(path: str, table: CatalogTable) -> str:
    """Return the statement that creates the table in Spark.

    Raises:
        ProgramError: If Spark does not support a part of it.
    """
    plain = [column for column in table.schema.columns if isinstance(column, PhysicalColumn)]
    if len(plain) < len(table.schema.columns) or table.schema.watermark is not None or table.schema.primary_key is not None:
        raise ProgramError("tables of Spark have plain columns only", hint="leave computed columns, keys and watermarks to a view or LIKE")
    unknown = sorted(set(table.options) - {"connector", "format", "path", "partition.default-name"})
    if table.options.get("connector", "filesystem") != "filesystem" or unknown:
        raise ProgramError(
            f"tables of Spark are files: {unknown or ['connector']} cannot be stored", hint="give 'format', and 'path' if wanted"
        )
    columns = ", ".join(f"{quoted(column.name)} {_spark_type(column.data_type)}" for column in plain)
    text = f"CREATE TABLE {path} ({columns}) USING {table.options.get('format', 'parquet')}"
    if table.partition_keys:
        text += f" PARTITIONED BY ({', '.join(map(quoted, table.partition_keys))})"
    if table.options.get("path"):
        text += f" LOCATION {_literal(table.options['path'])}"
    return text + (f" COMMENT {_literal(table.comment)}" if table.comment else "")


def _spark_type(of: t.DataType | str) -> str:
    assert isinstance(of, t.DataType)  # noqa: S101 - schemas of catalogs are resolved
    if isinstance(of, t.DecimalType | t.CharType):
        return of.nullable().as_summary_string()
    if isinstance(of, t.VarCharType):
        return "STRING" if of.length == 2**31 - 1 else f"VARCHAR({of.length})"
    if isinstance(of, t.ArrayType):
        return f"ARRAY<{_spark_type(of.element_type)}>"
    if isinstance(of, t.MapType):
        return f"MAP<{_spark_type(of.key_type)}, {_spark_type(of.value_type)}>"
    if isinstance(of, t.RowType):
        return f"STRUCT<{', '.join(f'{quoted(field.name)}: {_spark_type(field.data_type)}' for field in of)}>"
    for theirs, ours in _SIMPLE.items():
        if type(ours) is type(of):
            return theirs().simpleString()
    raise ProgramError(f"Spark has no type for {of.as_summary_string()}", hint="use another type")
