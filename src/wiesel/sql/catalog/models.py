"""Internal. Models: by what they are asked, and what the function is that ML_PREDICT calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.functions.user_contexts import FunctionLife
from wiesel.columnar.functions.user_functions import UserFunction, series_of
from wiesel.core.errors import ConfigurationError, WieselError
from wiesel.core.plugins import load_plugin
from wiesel.spi.table.catalog import CatalogModel, ObjectIdentifier
from wiesel.spi.table.model import PROVIDER, ModelContext, ModelProviderFactory, Predictor
from wiesel.types.logical import ArrayType, RowType
from wiesel.types.row import Row

__all__ = ["Asked", "prediction"]

_BUILT_IN = {"python": "wiesel.connectors.python_model:PythonModelFactory"}

_GROUP = "wiesel.model_providers"
"""The group of entry points by which other packages announce their providers; the entry's name is the identifier."""


@dataclass(frozen=True)
class Asked:
    """A call of a model, with overridden options."""

    identifier: ObjectIdentifier
    model: CatalogModel
    config: Mapping[str, str]


def prediction(identifier: ObjectIdentifier, model: CatalogModel, config: Mapping[str, str]) -> UserFunction:
    """Return the function of a model: from its inputs to the array of the rows that it returns.

    Raises:
        ConfigurationError: If there is no such provider, or it refuses the options.
        ProgramError: If the model cannot have these inputs or outputs.
    """
    inputs, outputs = model.inputs.physical_row_type, model.outputs.physical_row_type
    options = {**model.options, **config}
    try:
        factory = load_plugin("model provider", _GROUP, _BUILT_IN, options.get(PROVIDER.key, ""))()
        if not isinstance(factory, ModelProviderFactory):
            raise ConfigurationError(f"{type(factory).__name__} is no ModelProviderFactory", hint="see wiesel.spi.table.model")
        made = factory.create_predictor(ModelContext(identifier, inputs, outputs, options))
    except WieselError as error:
        raise type(error)(f"model {identifier.sql} cannot be asked: {error.message}", hint=error.hint, **error.details) from error
    types = tuple(field.data_type for field in inputs)
    kind, compute = _compute(made, outputs)
    result = ArrayType(outputs.not_null(), False)
    life, origin = FunctionLife(made.open, made.close), Asked(identifier, model, config)
    return UserFunction(identifier.object_name, compute, result, types, kind, made.deterministic, life, origin=origin)


def _compute(made: Predictor, outputs: RowType) -> tuple[Any, Callable[..., Any]]:
    if made.kind == "async":
        return "async", _AwaitedRows(made.predict, len(outputs))
    if made.kind == "general":
        return "general", _Rows(made.predict, len(outputs))
    return "arrow", _RowsOfBatch(made.predict, arrow_type(outputs), of_pandas=made.kind == "pandas")


def _listed(found: Any, width: int) -> list[Any]:
    every = found if isinstance(found, list) else [found]
    return [(None,) * width if value is None else value if isinstance(value, tuple | Row) else (value,) for value in every]


class _Rows:
    """Makes a list of rows of what a model returns for a row."""

    def __init__(self, predict: Callable[..., Any], width: int) -> None:
        self._predict = predict
        self._width = width

    def __call__(self, *inputs: Any) -> list[Any]:
        return _listed(self._predict(*inputs), self._width)


class _AwaitedRows(_Rows):
    """The same for a model that is waited for."""

    async def __call__(self, *inputs: Any) -> list[Any]:  # type: ignore[override]
        return _listed(await self._predict(*inputs), self._width)


class _RowsOfBatch:
    """Makes an array with one row each of what a model returns for many."""

    def __init__(self, predict: Callable[..., Any], row: pa.DataType, *, of_pandas: bool) -> None:
        self._predict = predict
        self._row = row
        self._of_pandas = of_pandas

    def __call__(self, *inputs: Any) -> pa.Array:
        found = self._predict(*map(series_of, inputs)) if self._of_pandas else self._predict(*inputs)
        fields = list(self._row)
        if hasattr(found, "columns") and hasattr(found, "iloc"):
            found = tuple(found.iloc[:, place] for place in range(len(found.columns)))
        elif isinstance(found, dict):
            found = tuple(found[field.name] for field in fields)
        columns = found if isinstance(found, tuple) else (found,)
        if len(columns) != len(fields):
            raise ValueError(f"{len(columns)} columns for {len(fields)} outputs")
        arrays = [_array(column, field.type) for column, field in zip(columns, fields, strict=True)]
        rows = pa.StructArray.from_arrays(arrays, fields=fields)
        return pa.ListArray.from_arrays(pa.array(range(len(rows) + 1), pa.int32()), rows)


def _array(column: Any, of: pa.DataType) -> pa.Array:
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return column.cast(of) if isinstance(column, pa.Array) else pa.array(column, of, from_pandas=True)
