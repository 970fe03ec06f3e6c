"""Internal. The source of ``from_collection``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wiesel.connectors.collection import CollectionSource
from wiesel.core.argument_checks import describe
from wiesel.core.errors import ArgumentTypeError, ProgramError
from wiesel.core.user_location import program_error, user_location
from wiesel.types.typeinfo import TypeInformation
from wiesel.types.types import require_type

__all__ = ["collection_source"]


def collection_source(collection: Iterable[Any], type_info: TypeInformation | None) -> tuple[CollectionSource, TypeInformation]:
    """Return the source of a collection and the type of its elements.

    Raises:
        ProgramError: It is no collection.
        TypeMismatchError: An element does not have the declared type.
        SerializationError: An element cannot be pickled.
    """
    if isinstance(collection, (str, bytes)) or not isinstance(collection, Iterable):
        raise program_error(
            f"from_collection() needs a list, got {describe(collection)}", "write from_collection([...])", ArgumentTypeError
        )
    declared = require_type(type_info, "from_collection()")
    try:
        return CollectionSource(list(collection), None if type_info is None else declared), declared
    except ProgramError as error:
        raise type(error)(f"{error.message} (at {user_location()})", hint=error.hint, **error.details) from error
