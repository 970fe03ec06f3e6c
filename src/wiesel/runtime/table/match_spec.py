"""Internal. What the operator of MATCH_RECOGNIZE is to do, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from wiesel.columnar.aggregates.calls import BoundCall
from wiesel.columnar.expressions import Expression

__all__ = ["MatchSpec", "ValueSpec", "VariableSpec"]


@dataclass(frozen=True)
class ValueSpec:
    """A value of the rows that a variable (None: all) has taken: of a column, from the first row or before the last one; or a call."""

    variable: str | None
    column: int
    offset: int
    call: BoundCall | None
    type: pa.DataType


@dataclass(frozen=True)
class VariableSpec:
    """A variable: how often it comes, and its condition: a column of the rows, or an expression over values."""

    name: str
    least: int
    most: int | None
    greedy: bool
    plain: int | None
    condition: Expression | None
    values: tuple[ValueSpec, ...]


@dataclass(frozen=True)
class MatchSpec:
    """What is matched, and what comes out.

    Attributes:
        partition: The columns of the key.
        time: The column with the time; None for the clock.
        order: For rows of the same time: columns, each with whether it ascends and whether NULL comes first.
        variables: The pattern.
        within_ms: The longest time of a match, or None.
        skip: ``next``, ``past_last``, ``first`` or ``last``.
        skip_to: The variable of the last two.
        values: What the results are computed from.
        outputs: The results, over ``values``.
        input_schema: The columns that come in.
        schema: That of the results.
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
