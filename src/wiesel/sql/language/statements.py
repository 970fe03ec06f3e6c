"""Internal. Statements as they are written: names are paths, queries are trees of sqlglot, nothing is looked up."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from wiesel.types.logical import DataType

__all__ = [
    "AddColumns",
    "AddJar",
    "AlterCatalog",
    "AlterDatabase",
    "AlterFunction",
    "AlterModel",
    "AlterTable",
    "AlterView",
    "Analyze",
    "BeginStatementSet",
    "Call",
    "Change",
    "ColumnDefinition",
    "ColumnPosition",
    "ComputedColumn",
    "CreateCatalog",
    "CreateDatabase",
    "CreateFunction",
    "CreateModel",
    "CreateTable",
    "CreateView",
    "Delete",
    "Describe",
    "Distribution",
    "Drop",
    "DropParts",
    "EndStatementSet",
    "Explain",
    "Insert",
    "LikeClause",
    "LoadModule",
    "MetadataColumnDefinition",
    "ModifyColumns",
    "PartitionSpec",
    "PartitionsChange",
    "Path",
    "PhysicalColumnDefinition",
    "PrimaryKeyDefinition",
    "Query",
    "RemoveJar",
    "Rename",
    "RenameColumn",
    "Reset",
    "ResetOptions",
    "Set",
    "SetComment",
    "SetOptions",
    "Show",
    "Span",
    "Statement",
    "StatementSet",
    "StopJob",
    "TableElements",
    "Truncate",
    "UnloadModule",
    "Update",
    "Use",
    "UseCatalog",
    "UseModules",
    "WatermarkDefinition",
]

Path = tuple[str, ...]
"""One to three names: table, database and table, catalog and both."""

Options = dict[str, str]
PartitionSpec = tuple[tuple[str, exp.Expr | None], ...]


@dataclass(frozen=True)
class Span:
    """A part of a script: offsets of its first character and of the one behind its last."""

    start: int
    end: int


@dataclass(frozen=True)
class Statement:
    """A statement, and its position in the script."""

    span: Span = field(compare=False)
    ignores_case: bool = field(default=False, compare=False, kw_only=True)
    """True if names of tables are case-insensitive, as in Hive."""


# Queries and changes of tables


@dataclass(frozen=True)
class Query(Statement):
    """``SELECT``, ``VALUES``, ``WITH`` and what is made of them."""

    tree: exp.Expr


@dataclass(frozen=True)
class Insert(Statement):
    """``INSERT INTO`` or ``INSERT OVERWRITE``."""

    target: Path
    query: exp.Expr
    columns: tuple[str, ...] = ()
    partition: PartitionSpec = ()
    overwrite: bool = False
    hints: tuple[exp.Expr, ...] = ()
    conflict: str | None = None
    """The action of ON CONFLICT DO: DEDUPLICATE, ERROR or NOTHING."""
    target_span: Span = field(default=Span(0, 0), compare=False)
    """Position of the name of the table."""


@dataclass(frozen=True)
class StatementSet(Statement):
    """``EXECUTE STATEMENT SET BEGIN ... END``: all run as one job."""

    inserts: tuple[Insert, ...]


@dataclass(frozen=True)
class BeginStatementSet(Statement):
    """``BEGIN STATEMENT SET``: the inserts up to the END belong together."""


@dataclass(frozen=True)
class EndStatementSet(Statement):
    """``END``."""


@dataclass(frozen=True)
class Delete(Statement):
    """``DELETE FROM``."""

    target: Path
    condition: exp.Expr | None


@dataclass(frozen=True)
class Update(Statement):
    """``UPDATE``."""

    target: Path
    assignments: tuple[tuple[str, exp.Expr], ...]
    condition: exp.Expr | None


@dataclass(frozen=True)
class Truncate(Statement):
    """``TRUNCATE TABLE``."""

    target: Path


@dataclass(frozen=True)
class CompilePlan(Statement):
    """``COMPILE PLAN 'file' FOR`` an INSERT or a statement set; ``executes``: ``COMPILE AND EXECUTE PLAN``."""

    file: str
    statement: Insert | StatementSet
    if_not_exists: bool = False
    executes: bool = False


@dataclass(frozen=True)
class ExecutePlan(Statement):
    """``EXECUTE PLAN 'file'``."""

    file: str


@dataclass(frozen=True)
class Explain(Statement):
    """``EXPLAIN``; ``details`` are those asked for, such as ``CHANGELOG_MODE``."""

    statement: Statement
    details: tuple[str, ...] = ()


# Tables and views


@dataclass(frozen=True)
class PhysicalColumnDefinition:
    """A column that is stored."""

    name: str
    data_type: DataType
    comment: str | None = None


@dataclass(frozen=True)
class MetadataColumnDefinition:
    """A column that the connector tells."""

    name: str
    data_type: DataType
    key: str | None = None
    is_virtual: bool = False
    comment: str | None = None


@dataclass(frozen=True)
class ComputedColumn:
    """A column that is computed; ``text`` is the expression as it is written."""

    name: str
    expression: exp.Expr
    comment: str | None = None
    text: str = field(default="", compare=False)


ColumnDefinition = PhysicalColumnDefinition | MetadataColumnDefinition | ComputedColumn


@dataclass(frozen=True)
class WatermarkDefinition:
    """``WATERMARK FOR``: the path of the column (fields of rows may have event time) and the watermark, also as it is written."""

    column: Path
    expression: exp.Expr
    text: str = field(default="", compare=False)


@dataclass(frozen=True)
class PrimaryKeyDefinition:
    """``PRIMARY KEY (...) NOT ENFORCED``."""

    columns: tuple[str, ...]
    name: str | None = None


@dataclass(frozen=True)
class TableElements:
    """The elements of a table definition."""

    columns: tuple[ColumnDefinition, ...] = ()
    watermark: WatermarkDefinition | None = None
    primary_key: PrimaryKeyDefinition | None = None


@dataclass(frozen=True)
class LikeClause:
    """``LIKE``; options are such as ``INCLUDING ALL``, in order."""

    source: Path
    options: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Distribution:
    """``DISTRIBUTED BY HASH(...) INTO n BUCKETS``; no kind: the connector chooses."""

    kind: str
    columns: tuple[str, ...]
    buckets: int | None


@dataclass(frozen=True)
class CreateTable(Statement):
    """``CREATE TABLE``, with ``like`` or as the result of ``query``, which may say names and order of ``columns`` only.

    ``replaces`` is ``OR REPLACE`` where the table may be there, ``REPLACE`` where it has to be.
    """

    path: Path
    elements: TableElements = TableElements()
    columns: tuple[str, ...] = ()
    comment: str | None = None
    partition_keys: tuple[str, ...] = ()
    options: Options = field(default_factory=dict)
    like: LikeClause | None = None
    query: exp.Expr | None = None
    is_temporary: bool = False
    if_not_exists: bool = False
    replaces: str = ""
    distribution: Distribution | None = None


@dataclass(frozen=True)
class CreateView(Statement):
    """``CREATE VIEW``; ``query_text`` is what is kept."""

    path: Path
    query: exp.Expr
    query_text: str
    columns: tuple[str, ...] = ()
    comment: str | None = None
    is_temporary: bool = False
    if_not_exists: bool = False
    dialect: str = "default"


@dataclass(frozen=True)
class CreateFunction(Statement):
    """``CREATE FUNCTION``."""

    path: Path
    identifier: str
    language: str = "JAVA"
    jars: tuple[str, ...] = ()
    is_temporary: bool = False
    is_system: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True)
class CreateModel(Statement):
    """``CREATE MODEL``."""

    path: Path
    inputs: tuple[ColumnDefinition, ...] = ()
    outputs: tuple[ColumnDefinition, ...] = ()
    comment: str | None = None
    options: Options = field(default_factory=dict)
    is_temporary: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True)
class CreateCatalog(Statement):
    """``CREATE CATALOG``."""

    name: str
    comment: str | None = None
    options: Options = field(default_factory=dict)
    if_not_exists: bool = False


@dataclass(frozen=True)
class CreateDatabase(Statement):
    """``CREATE DATABASE``."""

    path: Path
    comment: str | None = None
    options: Options = field(default_factory=dict)
    if_not_exists: bool = False


@dataclass(frozen=True)
class Drop(Statement):
    """``DROP``; ``kind`` is CATALOG, DATABASE, TABLE, VIEW, FUNCTION or MODEL, with TEMPORARY and SYSTEM aside."""

    kind: str
    path: Path
    if_exists: bool = False
    is_temporary: bool = False
    is_system: bool = False
    cascade: bool = False


# Changes


@dataclass(frozen=True)
class Rename:
    """``RENAME TO``."""

    path: Path


@dataclass(frozen=True)
class RenameColumn:
    """``RENAME a TO b``."""

    old: Path
    new: str


@dataclass(frozen=True)
class SetOptions:
    """``SET (...)``."""

    options: Options


@dataclass(frozen=True)
class ResetOptions:
    """``RESET (...)``."""

    keys: tuple[str, ...]


@dataclass(frozen=True)
class SetComment:
    """``COMMENT '...'``."""

    comment: str


@dataclass(frozen=True)
class ColumnPosition:
    """``FIRST``, or ``AFTER`` a column."""

    after: str | None


@dataclass(frozen=True)
class AddColumns:
    """``ADD (...)``: elements, and the position of each column by its name."""

    elements: TableElements
    positions: dict[str, ColumnPosition] = field(default_factory=dict)


@dataclass(frozen=True)
class ModifyColumns:
    """``MODIFY (...)``."""

    elements: TableElements
    positions: dict[str, ColumnPosition] = field(default_factory=dict)


@dataclass(frozen=True)
class DropParts:
    """``DROP (a, b)``, ``DROP PRIMARY KEY``, ``DROP CONSTRAINT c``, ``DROP WATERMARK``."""

    columns: tuple[Path, ...] = ()
    primary_key: bool = False
    constraint: str | None = None
    watermark: bool = False


@dataclass(frozen=True)
class PartitionsChange:
    """``ADD`` or ``DROP PARTITION``: each with its options."""

    add: bool
    partitions: tuple[tuple[PartitionSpec, Options], ...]
    if_exists: bool = False


Change = Rename | RenameColumn | SetOptions | ResetOptions | SetComment | AddColumns | ModifyColumns | DropParts | PartitionsChange


@dataclass(frozen=True)
class AlterTable(Statement):
    """``ALTER TABLE``."""

    path: Path
    change: Change
    if_exists: bool = False


@dataclass(frozen=True)
class AlterView(Statement):
    """``ALTER VIEW ... RENAME TO`` or ``AS``."""

    path: Path
    rename: Rename | None = None
    query: exp.Expr | None = None
    query_text: str = ""
    if_exists: bool = False
    dialect: str = "default"


@dataclass(frozen=True)
class AlterModel(Statement):
    """``ALTER MODEL ... SET (...)``, ``RESET (...)`` or ``RENAME TO``."""

    path: Path
    change: Change
    if_exists: bool = False


@dataclass(frozen=True)
class AlterDatabase(Statement):
    """``ALTER DATABASE ... SET (...)``."""

    path: Path
    change: Change


@dataclass(frozen=True)
class AlterCatalog(Statement):
    """``ALTER CATALOG ... SET (...)``, ``RESET (...)`` or ``COMMENT``."""

    name: str
    change: Change


@dataclass(frozen=True)
class AlterFunction(Statement):
    """``ALTER FUNCTION ... AS``."""

    path: Path
    identifier: str
    language: str = "JAVA"
    is_temporary: bool = False
    is_system: bool = False
    if_exists: bool = False


# The session


@dataclass(frozen=True)
class UseCatalog(Statement):
    """``USE CATALOG``."""

    name: str


@dataclass(frozen=True)
class Use(Statement):
    """``USE`` a database."""

    path: Path


@dataclass(frozen=True)
class UseModules(Statement):
    """``USE MODULES``."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class LoadModule(Statement):
    """``LOAD MODULE``."""

    name: str
    options: Options = field(default_factory=dict)


@dataclass(frozen=True)
class UnloadModule(Statement):
    """``UNLOAD MODULE``."""

    name: str


@dataclass(frozen=True)
class Set(Statement):
    """``SET 'key' = 'value'``; ``SET`` alone shows all."""

    key: str | None = None
    value: str | None = None


@dataclass(frozen=True)
class Reset(Statement):
    """``RESET 'key'``; ``RESET`` alone resets all."""

    key: str | None = None


@dataclass(frozen=True)
class AddJar(Statement):
    """``ADD JAR``."""

    path: str


@dataclass(frozen=True)
class RemoveJar(Statement):
    """``REMOVE JAR``."""

    path: str


@dataclass(frozen=True)
class Show(Statement):
    """``SHOW``: ``what`` is such as TABLES, CREATE TABLE or FULL MODULES.

    Attributes:
        what: The words behind SHOW.
        of: The object of ``SHOW CREATE`` and ``SHOW PARTITIONS``, or the one behind FROM or IN.
        pattern: What names are to be like.
        negated: Whether they must not be.
        ignore_case: ``ILIKE``.
        partition: The partition of ``SHOW PARTITIONS``.
    """

    what: str
    of: Path = ()
    pattern: str | None = None
    negated: bool = False
    ignore_case: bool = False
    partition: PartitionSpec = ()


@dataclass(frozen=True)
class Describe(Statement):
    """``DESCRIBE``: ``kind`` is TABLE, CATALOG, DATABASE, FUNCTION, MODEL or JOB."""

    path: Path
    kind: str = "TABLE"
    extended: bool = False


@dataclass(frozen=True)
class Analyze(Statement):
    """``ANALYZE TABLE ... COMPUTE STATISTICS``; ``columns`` None: those of the table alone, empty: all columns."""

    path: Path
    partition: PartitionSpec = ()
    columns: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Call(Statement):
    """``CALL`` of a procedure."""

    path: Path
    arguments: tuple[exp.Expr, ...]


@dataclass(frozen=True)
class StopJob(Statement):
    """``STOP JOB``."""

    job_id: str
    with_savepoint: bool = False
    with_drain: bool = False
