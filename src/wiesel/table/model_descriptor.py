"""Descriptions of models in programs: what ``CREATE MODEL`` is in SQL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wiesel.core.argument_checks import require_built, require_instance
from wiesel.core.config import ConfigOption
from wiesel.spi.table.catalog import CatalogModel
from wiesel.spi.table.model import PROVIDER
from wiesel.spi.table.schema import ResolvedSchema, Schema
from wiesel.table.statements.models import checked_model
from wiesel.table.table_descriptor import key_and_text, options_text

__all__ = ["ModelDescriptor"]


class ModelDescriptor:
    """Describes a model: its provider with its options, its inputs and outputs. Made by :meth:`for_provider`.

    >>> print(ModelDescriptor.for_provider("python").option("function", "models.mood").build())
    WITH (
      'function' = 'models.mood',
      'provider' = 'python'
    )
    """

    def __init__(self, inputs: Schema | None, outputs: Schema | None, options: Mapping[str, str], comment: str | None) -> None:
        self._inputs = inputs
        self._outputs = outputs
        self._options = dict(options)
        self._comment = comment

    @staticmethod
    def for_provider(provider: str) -> ModelDescriptor.Builder:
        """Return a builder of a model that this provider asks."""
        require_instance(provider, str, "a provider's name", "give a text, for example 'python'")
        return ModelDescriptor.Builder(provider)

    def get_options(self) -> dict[str, str]:
        """Return the options, the provider among them."""
        return dict(self._options)

    def get_input_schema(self) -> Schema | None:
        """Return the columns that the model is asked with, if they are known."""
        return self._inputs

    def get_output_schema(self) -> Schema | None:
        """Return the columns that the model returns, if they are known."""
        return self._outputs

    def get_comment(self) -> str | None:
        """Return the comment, if there is one."""
        return self._comment

    def _to_catalog_model(self) -> CatalogModel:
        """Return what a catalog keeps.

        Raises:
            ProgramError: If there are inputs without outputs or the other way round, or a type cannot be read.
        """
        inputs, outputs = (ResolvedSchema(()) if each is None else each.resolve() for each in (self._inputs, self._outputs))
        return checked_model(inputs, outputs, self.get_options(), self._comment)

    def __str__(self) -> str:
        parts = [f"{word}{each}" for word, each in (("INPUT ", self._inputs), ("OUTPUT ", self._outputs)) if each is not None]
        if self._comment is not None:
            parts.append(f"COMMENT '{self._comment}'")
        return "\n".join([*parts, options_text(self._options)])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ModelDescriptor) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((self._inputs, self._outputs, frozenset(self._options.items()), self._comment))

    class Builder:
        """Builder of a :class:`ModelDescriptor`."""

        def __init__(self, provider: str) -> None:
            self._inputs: Schema | None = None
            self._outputs: Schema | None = None
            self._options = {PROVIDER.key: provider}
            self._comment: str | None = None

        def input_schema(self, input_schema: Schema) -> ModelDescriptor.Builder:
            """Set the columns that the model is asked with."""
            require_built(input_schema, Schema, "input_schema()")
            self._inputs = input_schema
            return self

        def output_schema(self, output_schema: Schema) -> ModelDescriptor.Builder:
            """Set the columns that the model returns."""
            require_built(output_schema, Schema, "output_schema()")
            self._outputs = output_schema
            return self

        def option(self, key: str | ConfigOption[Any], value: Any) -> ModelDescriptor.Builder:
            """Set an option, by its whole key."""
            name, text = key_and_text(key, value)
            self._options[name] = text
            return self

        def comment(self, comment: str) -> ModelDescriptor.Builder:
            """Say what the model is about."""
            self._comment = comment
            return self

        def build(self) -> ModelDescriptor:
            """Return the description."""
            return ModelDescriptor(self._inputs, self._outputs, self._options, self._comment)
