"""Internal. Registry of aggregate functions: their types and their computation.

A function is computed by an :class:`Accumulator`: each row is converted to a value per slot, slots are reduced by group, and the result of
a group is computed from its slots. Modules of this package register their functions when they are imported.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wiesel.columnar.aggregates.slots import Column, Slot, numbers
from wiesel.columnar.functions.registry import Arguments, Signature
from wiesel.columnar.grouping import Groups
from wiesel.core.errors import invariant
from wiesel.types.logical import DataType

__all__ = [
    "Accumulator",
    "AggregateFunction",
    "Signs",
    "Spec",
    "aggregate_names",
    "find_aggregate",
    "make_accumulator",
    "nulled",
    "register",
    "similar_aggregates",
    "valid_numbers",
]

_MODULES = (
    "approximate",
    "bitmaps",
    "extremes",
    "hive_estimates",
    "json_aggregates",
    "lists",
    "percentiles",
    "sums",
    "statistics",
    "user_aggregates",
)

Signs = npt.NDArray[np.int64] | None
"""1 for each added row and -1 for each retracted one; None if all are added."""


@dataclass(frozen=True)
class Spec:
    """The use of an accumulator.

    Attributes:
        types: The types of the operands.
        result: The type of the result.
        retracts: True if rows may be retracted.
        options: Further options of the call.
        folds: True if the slots of a group are available when rows arrive.
    """

    types: tuple[DataType, ...]
    result: DataType
    retracts: bool = False
    options: tuple[Any, ...] = ()
    folds: bool = False


@dataclass(frozen=True)
class Accumulator:
    """The computation of an aggregate.

    Attributes:
        slots: The slots stored for a group.
        prepare: From the columns of the operands and the signs to a column per slot.
        finish: From columns with a value per group, for each slot, to the results.
        settle: Compacts merged slots that hold both added and retracted values.
        extreme: ``min`` or ``max`` with retraction, so that all values of a group have to be stored outside of the slots.
        fold: Instead of ``prepare`` where slots cannot be merged: from the only slot, the columns of the operands, the groups of the rows
            and the signs to the slot after the rows.
    """

    slots: tuple[Slot, ...]
    prepare: Callable[[Sequence[Column], Signs], list[Column]]
    finish: Callable[[Sequence[Column]], Column]
    settle: Callable[[list[Column]], list[Column]] | None = None
    extreme: str | None = None
    fold: Callable[[Column, Sequence[Column], Groups, Signs], Column] | None = None

    @property
    def needs_state(self) -> bool:
        """True if rows cannot be aggregated without the state of their group."""
        return self.extreme is not None or self.fold is not None


@dataclass(frozen=True)
class AggregateFunction:
    """A function of the values of several rows.

    Attributes:
        name: Capitals.
        resolve: From the operands, and whether a group may have no counted rows, to types; raises ``Arguments.refuse``'s error.
        make: Returns the accumulator.
        literals: Number of trailing operands that are literals and become options.
    """

    name: str
    resolve: Callable[[Arguments, bool], Signature]
    make: Callable[[Spec], Accumulator]
    literals: int = 0


_FUNCTIONS: dict[str, AggregateFunction] = {}
_loaded: list[str] = []


def register(function: AggregateFunction) -> None:
    """Register a function."""
    invariant(function.name not in _FUNCTIONS, f"there are two aggregate functions {function.name!r}")
    _FUNCTIONS[function.name] = function


def aggregate_names() -> set[str]:
    """Return the names of all functions."""
    if not _loaded:
        for module in _MODULES:
            importlib.import_module(f"wiesel.columnar.aggregates.{module}")
        # Imported lazily: a concurrent thread has to wait for the same modules.
        _loaded.extend(_MODULES)
    return set(_FUNCTIONS)


def find_aggregate(name: str) -> AggregateFunction | None:
    """Return a function, None if the name is unknown."""
    return _FUNCTIONS[name] if name in aggregate_names() else None


def similar_aggregates(name: str) -> list[str]:
    """Return names of functions similar to an unknown one."""
    return difflib.get_close_matches(name, aggregate_names(), n=3)


def make_accumulator(name: str, spec: Spec) -> Accumulator:
    """Return the accumulator of a function."""
    function = find_aggregate(name)
    invariant(function is not None, f"there is no aggregate function {name!r}")
    assert function is not None  # noqa: S101 - for the type checker
    return function.make(spec)


def valid_numbers(columns: Sequence[Column], signs: Signs) -> npt.NDArray[np.int64]:
    """Return the contribution of each row to the count of rows without NULL in any column."""
    length = len(columns[0])
    found = np.ones(length, np.int64) if signs is None else signs.copy()
    for column in columns:
        if column.null_count:
            found[numbers(column.is_null())] = 0
    return found


def nulled(column: Column, mask: npt.NDArray[np.bool_]) -> Column:
    """Return a column with NULL where the mask is true."""
    if not mask.any():
        return column
    places = np.arange(len(column))
    return column.take(pa.array(places, mask=mask))
