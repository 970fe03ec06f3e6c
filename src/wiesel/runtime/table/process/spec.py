"""Internal. Process table functions as plain data: definitions and calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import pyarrow as pa

from wiesel.columnar.expressions import Expression
from wiesel.columnar.functions.user_contexts import FunctionLife
from wiesel.spi.table.changelog_mode import ChangelogMode
from wiesel.types.logical import DataType, RowType
from wiesel.types.row import RowKind
from wiesel.types.typeinfo import TypeInformation

__all__ = ["ArgumentTrait", "ProcessArgument", "ProcessSpec", "ProcessState", "SortDirection", "TableInput", "UserProcessFunction"]


class ArgumentTrait(Enum):
    """Declaration of an argument of a process table function."""

    SCALAR = "SCALAR"
    """A value; the default."""
    ROW_SEMANTIC_TABLE = "ROW_SEMANTIC_TABLE"
    """A table whose rows are processed independently."""
    SET_SEMANTIC_TABLE = "SET_SEMANTIC_TABLE"
    """A table whose rows are partitioned by PARTITION BY."""
    OPTIONAL_PARTITION_BY = "OPTIONAL_PARTITION_BY"
    """PARTITION BY may be omitted: all rows form one partition."""
    PASS_COLUMNS_THROUGH = "PASS_COLUMNS_THROUGH"
    """All columns of the table are prepended to those of the function."""
    SUPPORT_UPDATES = "SUPPORT_UPDATES"
    """The table may update and delete rows: rows have kinds."""
    REQUIRE_UPDATE_BEFORE = "REQUIRE_UPDATE_BEFORE"
    """UPDATE_BEFORE rows are passed, too."""
    REQUIRE_FULL_DELETE = "REQUIRE_FULL_DELETE"
    """Deleted rows are passed completely, as they always are here."""
    REQUIRE_ON_TIME = "REQUIRE_ON_TIME"
    """The call needs ``on_time``."""

    @property
    def is_table(self) -> bool:
        """True if it makes the argument a table."""
        return self in (ArgumentTrait.ROW_SEMANTIC_TABLE, ArgumentTrait.SET_SEMANTIC_TABLE)


class SortDirection(Enum):
    """Direction of a column of ORDER BY, and the order of NULL."""

    ASC_NULLS_FIRST = "ASC_NULLS_FIRST"
    ASC_NULLS_LAST = "ASC_NULLS_LAST"
    DESC_NULLS_FIRST = "DESC_NULLS_FIRST"
    DESC_NULLS_LAST = "DESC_NULLS_LAST"

    @property
    def is_descending(self) -> bool:
        """True to sort descending."""
        return self.value.startswith("DESC")

    @property
    def is_nulls_first(self) -> bool:
        """True to sort NULL first."""
        return self.value.endswith("FIRST")

    @property
    def is_nulls_last(self) -> bool:
        """True to sort NULL last."""
        return not self.is_nulls_first


@dataclass(frozen=True)
class ProcessArgument:
    """An argument: its name, traits, the type of a value, and whether it is optional."""

    name: str
    traits: frozenset[ArgumentTrait]
    data_type: DataType | None = None
    optional: bool = False

    @property
    def is_table(self) -> bool:
        """True if it is a table."""
        return any(trait.is_table for trait in self.traits)

    @property
    def is_set(self) -> bool:
        """True if it is a table with set semantics."""
        return ArgumentTrait.SET_SEMANTIC_TABLE in self.traits


@dataclass(frozen=True)
class ProcessState:
    """State per key.

    Attributes:
        name: Its name.
        kind: ``value``, ``list`` or ``map``.
        fields: The fields of its row.
        make: The class of its value.
        ttl_ms: Its TTL; None for that of the job.
        type_info: The declared type, stored with it and checked at a restore; None if unknown.
    """

    name: str
    kind: str
    fields: tuple[str, ...] = ()
    make: Any = None
    ttl_ms: int | None = None
    type_info: TypeInformation | None = None


@dataclass(frozen=True)
class UserProcessFunction:
    """A user-defined process table function.

    Attributes:
        name: Its name in messages.
        function: Has ``eval`` and optionally ``on_timer``.
        result_type: The columns of its rows.
        arguments: Its arguments.
        states: Its state entries.
        takes_context: The first argument of ``eval`` is the context.
        timer_takes_context: The same for ``on_timer``; None if there is no such method.
        life: Opens and closes it.
    """

    name: str
    function: Any
    result_type: RowType
    arguments: tuple[ProcessArgument, ...]
    states: tuple[ProcessState, ...]
    takes_context: bool
    timer_takes_context: bool | None
    life: FunctionLife = field(default_factory=lambda: FunctionLife(None, None), compare=False)

    def prepared(self) -> Any:
        """Return the function, opened."""
        self.life.begin()
        return self.function

    @property
    def declares_changelog(self) -> bool:
        """True if the function declares a changelog mode; others are insert-only."""
        return hasattr(self.function, "get_changelog_mode")

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True)
class TableInput:
    """A table argument of a call.

    Attributes:
        argument: Index of the argument; None for the single row of functions without tables.
        name: The argument's name.
        row_type: Its columns.
        keys: The columns of PARTITION BY.
        time: The column of ``on_time``, if the table has it.
        kinds: The possible kinds of its rows: ``+I``, ``-U``, ``+U``, ``-D``.
        prefix: The columns before the function's own.
        order: The columns of ORDER BY, the first of which is an event time.
    """

    argument: int | None
    name: str
    row_type: RowType
    keys: tuple[int, ...]
    time: int | None
    kinds: tuple[str, ...]
    prefix: tuple[int, ...]
    order: tuple[tuple[int, SortDirection], ...] = ()

    @property
    def changelog_mode(self) -> ChangelogMode:
        """The changes of its rows."""
        return ChangelogMode(frozenset(kind for kind in RowKind if str(kind) in self.kinds))


@dataclass(frozen=True)
class ProcessSpec:
    """A call.

    Attributes:
        function: The function.
        tables: Its tables.
        values: For each argument the expression of its value; None for tables and omitted arguments.
        timed: The last column is the time of the rows.
        schema: The columns of the results.
        mode: The changelog mode of the results.
        update_before: ``-U`` rows are needed.
        inputs: The columns of the tables.
    """

    function: UserProcessFunction
    tables: tuple[TableInput, ...]
    values: tuple[Expression | None, ...]
    timed: bool
    schema: pa.Schema
    mode: ChangelogMode
    update_before: bool
    inputs: tuple[pa.Schema, ...]
