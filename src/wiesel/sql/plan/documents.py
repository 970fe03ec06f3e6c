"""Internal. Plans as documents of JSON, for compiled plans: all that a plan is made of, by name, and nothing else.

Relations are nodes with a number, which others read by that number, so that what is computed once stays so. A value that JSON has stands
for itself, tuples are lists; all else is an object with one key that begins with ``$`` and says what it is.
"""

from __future__ import annotations

import base64
import datetime as dt
import enum
import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from decimal import Decimal
from typing import Any

from wiesel.core.errors import ProgramError
from wiesel.spi.table.catalog import CatalogTable, ObjectIdentifier
from wiesel.sql.catalog.documents import entry_of, text_of
from wiesel.sql.plan.relations import ArrowScan, Relation, StreamScan, TableScan
from wiesel.types import logical
from wiesel.types.logical import DataType, RowField
from wiesel.types.logical_bitmap import BitmapType
from wiesel.types.logical_parser import parse_data_type
from wiesel.types.logical_raw import RawType
from wiesel.types.logical_structured import StructuredType
from wiesel.types.logical_variant import VariantType

__all__ = ["PlanReader", "PlanWriter", "table_document", "table_of_document"]

_MODULES = (
    "wiesel.columnar.expressions",
    "wiesel.columnar.windows",
    "wiesel.runtime.table.mini_batch",
    "wiesel.runtime.table.process.spec",
    "wiesel.runtime.table.aggregate.sampling",
    "wiesel.runtime.table.watermark",
    "wiesel.spi.table.catalog",
    "wiesel.spi.watermark",
    "wiesel.sql.plan.changelog_relations",
    "wiesel.sql.plan.lateral_relations",
    "wiesel.sql.plan.match_relations",
    "wiesel.sql.plan.over_relations",
    "wiesel.sql.plan.relations",
    "wiesel.sql.plan.temporal_relations",
    "wiesel.sql.plan.user_relations",
    "wiesel.sql.plan.window_relations",
)
"""Modules of the classes that a document may refer to; no others are looked up."""

_TEXTS: dict[type[Any], tuple[str, Callable[[Any], str], Callable[[str], Any]]] = {
    Decimal: ("$decimal", str, Decimal),
    bytes: ("$bytes", lambda value: base64.b64encode(value).decode(), base64.b64decode),
    dt.datetime: ("$datetime", dt.datetime.isoformat, dt.datetime.fromisoformat),
    dt.date: ("$date", dt.date.isoformat, dt.date.fromisoformat),
    dt.time: ("$time", dt.time.isoformat, dt.time.fromisoformat),
    float: ("$float", float.hex, float.fromhex),
}
"""Values that are kept as strings: their key, how they are written and read."""

_TYPES = {
    of.__name__: of
    for of in (*vars(logical).values(), BitmapType, RawType, StructuredType, VariantType)
    if isinstance(of, type) and issubclass(of, DataType | RowField)
}


def table_document(identifier: ObjectIdentifier, table: CatalogTable) -> dict[str, Any]:
    """Return what a plan knows of a table.

    Raises:
        ProgramError: If a column has a type without text.
    """
    plain = CatalogTable(table.schema, table.options, table.partition_keys, table.comment)
    names = [identifier.catalog_name, identifier.database_name, identifier.object_name]
    return {"identifier": names, "resolved": json.loads(text_of(plain)), "metadata": dict(table.metadata)}


def table_of_document(document: Mapping[str, Any]) -> tuple[ObjectIdentifier, CatalogTable]:
    """Return the table of a document, and its name."""
    identifier = ObjectIdentifier(*document["identifier"])
    table = entry_of(json.dumps(document["resolved"]))
    assert isinstance(table, CatalogTable)  # noqa: S101 - a view is read by what it stands for
    return identifier, CatalogTable(table.schema, table.options, table.partition_keys, table.comment, metadata=document["metadata"])


def _classes() -> dict[str, type[Any]]:
    found: dict[str, type[Any]] = {}
    for name in _MODULES:
        module = importlib.import_module(name)
        found |= {each: of for each, of in vars(module).items() if isinstance(of, type) and of.__module__ == name}
    return found


class PlanWriter:
    """Writes relations as nodes.

    Args:
        name_of: Returns by what a function of the user can be found again; None if it has no name.
        table: Returns what is kept of a table.
    """

    def __init__(
        self,
        name_of: Callable[[Any], list[str] | dict[str, Any] | None],
        table: Callable[[ObjectIdentifier, CatalogTable], dict[str, Any]],
    ) -> None:
        self._name_of = name_of
        self._table = table
        self._classes = _classes()
        self._numbers: dict[int, int] = {}
        self._kept: list[Relation] = []
        self.nodes: list[dict[str, Any]] = []

    def number(self, relation: Relation) -> int:
        """Return the number of a relation's node, which stands behind those that it reads.

        Raises:
            ProgramError: If the relation, or a part of it, lives in the program alone.
        """
        if id(relation) not in self._numbers:
            if isinstance(relation, StreamScan | ArrowScan):
                hint = "read tables that have a connector"
                raise ProgramError("streams and rows of the program cannot be kept in a plan", hint=hint)
            node = {"id": 0, **self._fields(relation)}
            self._kept.append(relation)  # it stays alive, and so its id
            node["id"] = self._numbers[id(relation)] = len(self.nodes) + 1
            self.nodes.append(node)
        return self._numbers[id(relation)]

    def _fields(self, value: Any) -> dict[str, Any]:
        name = type(value).__name__
        if self._classes.get(name) is not type(value):
            raise ProgramError(f"a plan with {name} cannot be kept", hint="run the statement itself: INSERT INTO ...")
        given = {each.name: getattr(value, each.name) for each in fields(value) if each.init}
        found: dict[str, Any] = {"$": name}
        if isinstance(value, TableScan):
            found["table"] = self._table(given.pop("identifier"), given.pop("table"))
        return found | {key: self._value(each) for key, each in given.items()}

    def _value(self, value: Any) -> Any:
        if value is None or isinstance(value, bool | str) or (isinstance(value, int) and not isinstance(value, enum.Enum)):
            return value
        if isinstance(value, Relation):
            return {"$node": self.number(value)}
        if isinstance(value, DataType):
            return {"$type": _type_document(value)}
        if isinstance(value, enum.Enum):
            return {"$enum": f"{type(value).__name__}.{value.name}"}
        if type(value) in _TEXTS:
            key, text, _ = _TEXTS[type(value)]
            return {key: text(value)}
        return self._collection(value)

    def _collection(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return [self._value(each) for each in value]
        if isinstance(value, list):
            return {"$list": [self._value(each) for each in value]}
        if isinstance(value, frozenset):
            return {"$set": sorted((self._value(each) for each in value), key=repr)}
        if isinstance(value, Mapping):
            return {"$map": [[self._value(key), self._value(each)] for key, each in value.items()]}
        name = self._name_of(value)
        if name is not None:
            return {"$function": name}
        if is_dataclass(value) and self._classes.get(type(value).__name__) is type(value):
            return self._fields(value)
        shown = getattr(value, "name", type(value).__name__)
        raise ProgramError(
            f"{shown!r} cannot be kept in a plan: no catalog knows it by a name",
            hint="give the function a name: CREATE FUNCTION, or create_temporary_system_function()",
        )


def _type_document(data_type: Any) -> Any:
    """Return the text of a type, or its parts where there is no such text: types of what functions return need not be types of columns."""
    if isinstance(data_type, list):
        return [_type_document(each) for each in data_type]
    if not isinstance(data_type, DataType | RowField):
        return {"value": data_type}
    if isinstance(data_type, DataType):
        text = data_type.as_summary_string()
        try:
            if parse_data_type(text) == data_type:
                return text
        except ProgramError:
            pass
    return {"of": type(data_type).__name__, **{key: _type_document(value) for key, value in vars(data_type).items()}}


def _type_of(document: Any) -> Any:
    if isinstance(document, str):
        return parse_data_type(document)
    if isinstance(document, list):
        return [_type_of(each) for each in document]
    if "value" in document:
        return document["value"]
    of = _TYPES[document["of"]]
    made = of.__new__(of)
    vars(made).update({key: _type_of(value) for key, value in document.items() if key != "of"})
    return made


class PlanReader:
    """Reads relations from nodes.

    Args:
        nodes: The nodes; each stands behind those that it reads.
        restored: Returns the present table for the description in a document.
        function: Returns the function of the user that is found by what ``name_of`` told.
    """

    def __init__(
        self,
        nodes: Sequence[Mapping[str, Any]],
        restored: Callable[[Mapping[str, Any]], tuple[ObjectIdentifier, CatalogTable]],
        function: Callable[[Any], Any],
    ) -> None:
        self._restored = restored
        self._function = function
        self._classes = _classes()
        self._readers = {key: read for key, _, read in _TEXTS.values()}
        self._relations: dict[int, Relation] = {}
        for node in nodes:
            self._relations[node["id"]] = self._made({key: value for key, value in node.items() if key != "id"})

    def relation(self, number: int) -> Relation:
        """Return the relation of a node."""
        return self._relations[number]

    def _made(self, node: Mapping[str, Any]) -> Any:
        of = self._classes[node["$"]]
        if of is TableScan:
            identifier, table = self._restored(node["table"])
            node = {key: value for key, value in node.items() if key != "table"}
            return TableScan(identifier, table, **self._values(node))
        return of(**self._values(node))

    def _values(self, node: Mapping[str, Any]) -> dict[str, Any]:
        return {key: self._value(value) for key, value in node.items() if key != "$"}

    def _value(self, value: Any) -> Any:
        if isinstance(value, list):
            return tuple(self._value(each) for each in value)
        if not isinstance(value, dict):
            return value
        if "$" in value:
            return self._made(value)
        ((key, found),) = value.items()
        if key in self._readers:
            return self._readers[key](found)
        return self._special(key, found)

    def _special(self, key: str, found: Any) -> Any:
        if key == "$node":
            return self._relations[found]
        if key == "$type":
            return _type_of(found)
        if key == "$enum":
            of, _, name = found.partition(".")
            return self._classes[of][name]
        if key == "$function":
            return self._function(found)
        values = [self._value(each) for each in found]
        return dict(values) if key == "$map" else frozenset(values) if key == "$set" else values
