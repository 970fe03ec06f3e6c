"""Interfaces of model providers for SQL: ``CREATE MODEL ... WITH ('provider' = ...)`` and ``ML_PREDICT``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from wiesel.core.config import ConfigOption
from wiesel.spi.table.catalog import ObjectIdentifier
from wiesel.types.logical import RowType

__all__ = ["PROVIDER", "ModelContext", "ModelProviderFactory", "Predictor"]

PROVIDER = ConfigOption[str]("provider", description="The provider of a model.")


@dataclass(frozen=True)
class ModelContext:
    """The model passed to a factory.

    Attributes:
        identifier: The full name of the model.
        inputs: The input columns.
        outputs: The output columns.
        options: Options of the model, overridden by those of the call.
    """

    identifier: ObjectIdentifier
    inputs: RowType
    outputs: RowType
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Predictor:
    """Evaluates a model.

    Attributes:
        predict: ``general``: gets the inputs of a row, returns the one output, a tuple or ``Row`` of all of them, None for NULL, or a
            list of these for several rows or none. ``async``: the same, awaited. ``pandas`` and ``arrow``: gets a ``pandas.Series`` or a
            ``pyarrow.Array`` per input for many rows, returns the one output for all of them, or a tuple, dict or ``DataFrame`` of outputs.
        kind: The call convention.
        deterministic: It returns the same for the same inputs.
        open: Called once in each process before the first call, with a ``FunctionContext``.
        close: Called when the task ends.
    """

    predict: Callable[..., Any]
    kind: Literal["general", "async", "pandas", "arrow"] = "general"
    deterministic: bool = True
    open: Callable[[Any], None] | None = None
    close: Callable[[], None] | None = None


class ModelProviderFactory(ABC):
    """Creates predictors. One instance, created without arguments, serves all models of the provider."""

    identifier: ClassVar[str]
    """Identifier of the provider in models: ``'provider' = 'python'``."""

    @abstractmethod
    def create_predictor(self, context: ModelContext) -> Predictor:
        """Return the predictor; called in the program for each ``ML_PREDICT``.

        Raises:
            ConfigurationError: If an option is missing, unknown or invalid.
            ProgramError: If the model does not support these inputs or outputs.
        """
