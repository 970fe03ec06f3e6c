"""Internal. AST nodes of Hive's queries in addition to Flink's: calls and operators with Hive's type rules."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp

from wiesel.sql.language.nodes import DataTypeNode

__all__ = ["DEFAULT_GROUPING_ID", "WITHIN_REDUCERS", "HiveCall", "HiveCast", "HiveEquals", "HiveQuery", "HiveString"]

DEFAULT_GROUPING_ID = "grouping__id"
"""The column that tells in Hive which grouping set a row belongs to."""


WITHIN_REDUCERS = "within reducers"
"""In ``meta`` of an order: that of SORT BY or CLUSTER BY."""


class HiveQuery(exp.Expression):
    """A whole query of Hive (``this``): its names are told apart without regard to case."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}


class HiveCall(exp.Anonymous):
    """The call of a function or operator of Hive; ``this`` is its name or sign."""


class HiveEquals(exp.EQ):
    """``a = b`` by Hive's rules."""


class HiveString(exp.Literal):
    """A text between quotes: a STRING, not a CHAR of its length."""


class HiveCast(exp.Expression):
    """``CAST(this AS to)``, NULL where there is no such value."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "to": True}

    @property
    def wanted(self) -> DataTypeNode:
        """The node of the type."""
        return self.args["to"]  # type: ignore[no-any-return]
