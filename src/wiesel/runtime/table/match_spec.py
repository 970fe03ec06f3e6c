"""Internal. Specification of the operator of MATCH_RECOGNIZE, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from wiesel.columnar.aggregates.calls import BoundCall
from wiesel.columnar.expressions import Expression

__all__ = ["MatchSpec", "ValueSpec", "VariableSpec"]


@dataclass(frozen=True)
class ValueSpec:
    """A value over the rows of a variable (None: all): a column, counted from the first or the last row; or a call."""

    variable: str | None
    column: int
    offset: int
    call: BoundCall | None
    type: pa.DataType


@dataclass(frozen=True)
class VariableSpec:
    """A variable: its quantifier, and its condition: a column of the rows, or an expression over values."""

    name: str
    least: int
    most: int | None
    greedy: bool
    plain: int | None
    condition: Expression | None
    values: tuple[ValueSpec, ...]


@dataclass(frozen=True)
class MatchSpec:
    """The pattern and its results.

    Attributes:
        partition: The columns of the key.
        time: The time column; None for processing time.
        order: For rows of equal time: columns, each with whether it is ascending and whether NULLs are first.
        variables: The pattern.
        within_ms: The maximal duration of a match, or None.
        skip: ``next``, ``past_last``, ``first`` or ``last``.
        skip_to: The variable of the last two.
        values: Inputs of the results.
        outputs: The results, over ``values``.
        input_schema: The columns of the input.
        schema: The columns of the results.
    """

    partition: tuple[int, ...]
    time: int | None
    order: tuple[tuple[int, bool, bool], ...]
    variables: tuple[VariableSpec, ...]
    within_ms: int | None
    skip: str
    skip_to: str | None
    values: tuple[ValueSpec, ...]
    outputs: tuple[Expression, ...]
    input_schema: pa.Schema
    schema: pa.Schema
