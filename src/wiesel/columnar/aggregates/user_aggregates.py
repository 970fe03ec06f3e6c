"""Internal. Aggregate functions of users.

Where a group is kept by key, its accumulator is: rows are added to it and taken from it as they come. Elsewhere (windows, functions of
pandas, which read all rows of a group at once) the arguments of the rows are kept, and accumulated when the result is asked for.
"""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from wiesel.columnar.aggregates.lists import settled
from wiesel.columnar.aggregates.registry import Accumulator, AggregateFunction, Signs, Spec, register
from wiesel.columnar.aggregates.slots import Column, Slot
from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.functions.registry import Arguments, Signature
from wiesel.columnar.functions.user_contexts import FunctionLife
from wiesel.columnar.functions.user_functions import call_failure, python_columns, result_failure, series_of
from wiesel.columnar.grouping import Groups
from wiesel.columnar.rows import DECIMALS_OF_FUNCTIONS, column_array
from wiesel.core.errors import ProgramError
from wiesel.types.logical import DataType

__all__ = ["USER_AGGREGATE", "UserAggregate", "require_retract"]

USER_AGGREGATE = "USER AGGREGATE"


@dataclass(frozen=True)
class UserAggregate:
    """An aggregate function of the user.

    Attributes:
        name: What it is called in messages.
        function: Has the methods of ``wiesel.table.udf.AggregateFunction``; of pandas a function of ``Series`` in place of them.
        result_type: The type of the result.
        input_types: The types of its arguments, to which they are cast; None if it takes what comes.
        kind: How it is called.
        retracts: Whether it has ``retract``.
        of_tables: Whether its result are rows (``emit_value``).
        life: Opens and closes it.
        whole_row: Whether its one argument is the row of all columns, given by the function's place and not by an expression.
    """

    name: str
    function: Any
    result_type: DataType
    input_types: tuple[DataType, ...] | None = None
    kind: Literal["general", "pandas"] = "general"
    retracts: bool = False
    of_tables: bool = False
    life: FunctionLife = field(default_factory=lambda: FunctionLife(None, None), compare=False)
    whole_row: bool = False
    is_aggregate = True

    def prepared(self) -> Any:
        """Return the function, opened."""
        self.life.begin()
        return self.function

    def changed(self, accumulator: Any, rows: Sequence[tuple[Any, ...]], signs: Sequence[int]) -> Any:
        """Add rows to an accumulator, or take them from it (-1); return the accumulator."""
        function = self.prepared()
        for row, sign in zip(rows, signs, strict=True):
            method = function.accumulate if sign > 0 else function.retract
            try:
                method(accumulator, *row)
            except Exception as error:
                raise call_failure(self.name, error, repr(row)) from error
        return accumulator

    def value(self, accumulator: Any) -> Any:
        """Return the result of an accumulator."""
        try:
            return self.prepared().get_value(accumulator)
        except Exception as error:
            raise call_failure(self.name, error, "an accumulator") from error


def _resolve(arguments: Arguments, may_be_empty: bool) -> Signature:
    function: UserAggregate = arguments.options[0]
    wanted = function.input_types
    if wanted is None:
        return Signature(arguments.types, function.result_type)
    if len(wanted) != len(arguments.types):
        message = f"the function {function.name!r} takes {len(wanted)} arguments, not {len(arguments.types)}"
        raise ProgramError(message, hint=f"its arguments are: {', '.join(of.as_summary_string() for of in wanted)}")
    return Signature(wanted, function.result_type)


def require_retract(function: UserAggregate) -> None:
    """Reject a function that does not support retraction.

    Raises:
        ProgramError: If it has no ``retract``, and is called row by row.
    """
    if function.kind == "general" and not function.retracts:
        raise ProgramError(
            f"the function {function.name!r} has no retract(), but rows of its input may be retracted",
            hint="give it a method retract(self, accumulator, *args)",
        )


def _make(spec: Spec) -> Accumulator:
    function: UserAggregate = spec.options[0]
    return _kept(function, spec) if spec.folds and function.kind == "general" else _of_rows(function, spec)


# Accumulators by key


def _kept(function: UserAggregate, spec: Spec) -> Accumulator:
    slot = Slot("last", pa.binary())

    def fold(old: Column, columns: Sequence[Column], groups: Groups, signs: Signs) -> Column:
        states = old.to_pylist()
        rows = list(zip(*python_columns(columns), strict=True)) if columns else [()] * len(groups)
        for group, places in _places(groups):
            stored = states[group]
            accumulator = function.prepared().create_accumulator() if stored is None else pickle.loads(stored)
            of_rows = [1] * len(places) if signs is None else signs[places].tolist()
            accumulator = function.changed(accumulator, [rows[place] for place in places], of_rows)
            states[group] = pickle.dumps(accumulator)
        return pa.array(states, pa.binary())

    def finish(slots: Sequence[Column]) -> Column:
        create = function.prepared().create_accumulator
        found = (create() if state is None else pickle.loads(state) for state in slots[0].to_pylist())
        return _results(function, [function.value(accumulator) for accumulator in found])

    return Accumulator((slot,), lambda columns, signs: [], finish, fold=fold)


def _places(groups: Groups) -> list[tuple[int, list[int]]]:
    """Return the groups that have rows, and which, in the order in which they came."""
    found: dict[int, list[int]] = {}
    for place, group in enumerate(groups.ids.tolist()):
        found.setdefault(group, []).append(place)
    return list(found.items())


def _results(function: UserAggregate, values: list[Any]) -> Column:
    wanted = arrow_type(function.result_type)
    try:
        return column_array(values, wanted, DECIMALS_OF_FUNCTIONS)
    except (pa.ArrowException, TypeError, ValueError, OverflowError, AttributeError) as error:
        kind = function.result_type.as_summary_string()
        hint = "return values of its result type, or declare another one"
        code = getattr(function.function, "get_value", function.function)
        raise result_failure(function.name, code, f"returned what is no {kind}: {error}", hint) from error


# The rows of groups


def _of_rows(function: UserAggregate, spec: Spec) -> Accumulator:
    # Without arguments the number of a row's group stands for it.
    fields = [pa.field(f"f{place}", arrow_type(of)) for place, of in enumerate(spec.types)] or [pa.field("row", pa.int64())]
    slot = Slot("list", pa.list_(pa.struct(fields)), [])

    def prepare(columns: Sequence[Column], signs: Signs) -> list[Column]:
        rows = pa.StructArray.from_arrays([column.cast(part.type) for column, part in zip(columns, fields, strict=True)], fields=fields)
        if not spec.retracts:
            return [_lists(rows, np.ones(len(rows), np.bool_), slot.type)]
        added = np.ones(len(rows), np.bool_) if signs is None else signs > 0
        return [_lists(rows, added, slot.type), _lists(rows, ~added, slot.type)]

    def finish(slots: Sequence[Column]) -> Column:
        compute = _with_pandas if function.kind == "pandas" else _row_by_row
        starts, columns = slots[0].offsets.to_pylist(), slots[0].values.flatten() if spec.types else []
        parts = [([column.slice(a, b - a) for column in columns], b - a) for a, b in itertools.pairwise(starts)]
        return _results(function, [compute(function, part, size) for part, size in parts])

    return Accumulator((slot, slot) if spec.retracts else (slot,), prepare, finish, settled if spec.retracts else None)


def _lists(rows: Column, chosen: Any, kind: pa.DataType) -> Column:
    offsets = np.concatenate([[0], np.cumsum(chosen)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), rows.filter(pa.array(chosen))).cast(kind)


def _row_by_row(function: UserAggregate, columns: Sequence[Column], size: int) -> Any:
    rows = list(zip(*python_columns(columns), strict=True)) if columns else [()] * size
    return function.value(function.changed(function.prepared().create_accumulator(), rows, [1] * size))


def _with_pandas(function: UserAggregate, columns: Sequence[Column], size: int) -> Any:
    try:
        found = function.prepared()(*(series_of(column, whole_row=function.whole_row) for column in columns))
    except Exception as error:
        raise call_failure(function.name, error, f"a group of {size} rows") from error
    return found.item() if isinstance(found, np.generic) else found


register(AggregateFunction(USER_AGGREGATE, _resolve, _make))
