"""Expressions whose type is known: the names of ``pyflink.table.resolved_expression``."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from wiesel.table.expression import Expression
from wiesel.types.logical import DataType

__all__ = ["ResolvedExpression"]


class ResolvedExpression(Expression[Any]):
    """An expression of the schema of a table, as SQL has it, and its type. Schemas hand them out."""

    def __init__(self, text: str, data_type: DataType) -> None:
        super().__init__(exp.Var(this=text))
        self._text = text
        self._data_type = data_type

    def get_output_data_type(self) -> DataType:
        """Return the type of its values."""
        return self._data_type

    def get_resolved_children(self) -> list[ResolvedExpression]:
        """Return what it is computed of: nothing, as it is kept as one text."""
        return []

    def as_serializable_string(self) -> str:
        """Return it as SQL."""
        return self._text

    def as_summary_string(self) -> str:
        """Return it as SQL."""
        return self._text

    def _as_sql(self) -> str:
        return self._text

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__
