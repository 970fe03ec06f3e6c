"""Internal. The model provider ``python``: a function or class of the program as the model."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

from wiesel.core.config import ConfigOption
from wiesel.core.errors import ConfigurationError
from wiesel.spi.table.factory import TableOptions
from wiesel.spi.table.model import PROVIDER, ModelContext, ModelProviderFactory, Predictor

__all__ = ["PythonModelFactory"]

_FUNCTION = ConfigOption[str]("function", description="'module.name' of a function, or of a class with a method predict().")
_KIND = ConfigOption[str](
    "function-type", "enum", "general", "The call convention: per row, or vectorised.", choices=("general", "pandas", "arrow")
)


class PythonModelFactory(ModelProviderFactory):
    """Imports functions and classes by name."""

    identifier = "python"

    def create_predictor(self, context: ModelContext) -> Predictor:
        """Return the function of the options."""
        own = {key: value for key, value in context.options.items() if key != PROVIDER.key and not key.startswith("args.")}
        options = TableOptions(f"provider '{self.identifier}'", own)
        name, kind = options.require(_FUNCTION), options.get(_KIND)
        options.refuse_unknown()
        found = _loaded(name)
        arguments = {key.removeprefix("args."): value for key, value in context.options.items() if key.startswith("args.")}
        if inspect.isclass(found):
            return _of_object(found(**arguments), name, kind)
        if arguments:
            hint = "write a class: they are arguments of its __init__"
            raise ConfigurationError(f"the function {name!r} takes no options 'args.*'", hint=hint)
        if not callable(found):
            raise ConfigurationError(f"{name!r} is no function and no class", hint="name a function, or a class with a method predict()")
        return Predictor(found, _kind_of(found, kind))


def _loaded(name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, ValueError, AttributeError) as error:
        hint = "write 'module.name', of a module that Python finds"
        raise ConfigurationError(f"the function {name!r} of the model cannot be loaded: {error}", hint=hint) from error


def _of_object(model: Any, name: str, kind: str) -> Predictor:
    predict = getattr(model, "predict", None)
    if not callable(predict):
        raise ConfigurationError(f"the class {name!r} has no method predict()", hint="write predict(self, *inputs)")
    return Predictor(predict, _kind_of(predict, kind), True, getattr(model, "open", None), getattr(model, "close", None))


def _kind_of(function: Any, kind: str) -> Any:
    if not inspect.iscoroutinefunction(function):
        return kind
    if kind != "general":
        raise ConfigurationError(f"a function with async cannot be called as {kind!r}", hint="leave 'function-type' out")
    return "async"
