"""Internal. Records: instances of dataclasses, ``msgspec.Struct`` and pydantic models, with schema evolution in state.

Instances of declared classes (``Types.POJO``) are pickled by the names of their fields, not by Python's default: a restored record finds
its fields by name in the present class. Removed fields are dropped, new ones get their default, and renamed ones are found by
:class:`Alias`. A record whose class is not known (yet) is a :class:`StoredRecord` until a state declares its type.
"""

from __future__ import annotations

import copyreg
import dataclasses
import datetime
import decimal
import importlib
import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from wiesel.core.errors import ProgramError
from wiesel.types.typeinfo import (
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    PickledBytesTypeInfo,
    PrimitiveArrayTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TupleTypeInfo,
    TypeInformation,
)

__all__ = ["Alias", "Layout", "RecordTypeInfo", "StoredRecord", "fields_of", "is_record_class", "layout_of", "rebuild"]


@dataclasses.dataclass(frozen=True)
class Alias:
    """An earlier name of a field: ``total: Annotated[float, Alias("amount")]`` reads the stored field ``amount``."""

    name: str


class StoredRecord:
    """A record of an unknown class: its fields by name.

    Attributes:
        record_class: Module and name of the class, separated by ``:``.
        fields: Names and values.
    """

    __slots__ = ("_extras", "fields", "record_class")

    def __init__(self, record_class: str, fields: dict[str, Any], extras: Any = None) -> None:
        self.record_class = record_class
        self.fields = fields
        self._extras = extras

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuild, (self.record_class, tuple(self.fields), tuple(self.fields.values()), self._extras)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StoredRecord) and (self.record_class, self.fields) == (other.record_class, other.fields)

    def __hash__(self) -> int:
        return hash((self.record_class, tuple(self.fields.items())))

    def __repr__(self) -> str:
        return f"{self.record_class.partition(':')[2]}({', '.join(f'{name}={value!r}' for name, value in self.fields.items())})"


class Layout:
    """Conversion of records of a class to field values and back.

    Attributes:
        key: Module and name of the class.
        names: The fields, in order.
        aliases: Field -> its earlier names.
        defaults: Field -> factory of its default, if it has one.
    """

    def __init__(self, record_class: type, kind: str) -> None:
        self.record_class = record_class
        self.kind = kind
        self.key = f"{record_class.__module__}:{record_class.__qualname__}"
        self.defaults: dict[str, Callable[[], Any]] = {}
        self.names = tuple(_READ_FIELDS[kind](record_class, self.defaults))
        hints = _hints(record_class, self.names)
        self.types = tuple(_type_of(hints[name], (record_class,)) for name in self.names)
        self.aliases = {name: _aliases(hints[name]) for name in self.names}
        # A field that may be None needs no default.
        for name in self.names:
            if _is_optional(hints[name]):
                self.defaults.setdefault(name, _none)
        self._in_dict = kind == "dataclass" and not any("__slots__" in base.__dict__ for base in record_class.__mro__[:-1])

    def parts(self, record: Any) -> tuple[tuple[Any, ...], Any]:
        """Return the values of the fields, and additional attributes of the record."""
        if self.kind == "pydantic":
            state = record.__getstate__()
            own = state.pop("__dict__")
            return tuple(own.get(name) for name in self.names), state
        values = tuple([getattr(record, name, None) for name in self.names])
        if self._in_dict and len(record.__dict__) != len(self.names):
            return values, {name: value for name, value in record.__dict__.items() if name not in self.aliases} or None
        return values, None

    def build(self, values: Sequence[Any], extras: Any = None) -> Any:
        """Return a record with these values of the fields; as in unpickling, no code of the class is run."""
        if self.kind == "msgspec":
            return self.record_class(**dict(zip(self.names, values, strict=True)))
        record: Any = object.__new__(self.record_class)
        if self.kind == "pydantic":
            state = extras or {"__pydantic_fields_set__": set(self.names), "__pydantic_extra__": None, "__pydantic_private__": None}
            record.__setstate__({**state, "__dict__": dict(zip(self.names, values, strict=True))})
        elif self._in_dict:
            record.__dict__.update(zip(self.names, values, strict=True))
            if extras:
                record.__dict__.update(extras)
        else:
            for name, value in zip(self.names, values, strict=True):
                object.__setattr__(record, name, value)
        return record

    def source(self, name: str, known: Mapping[str, Any] | Sequence[str]) -> str | None:
        """Return the stored name of a field, None if it was not stored."""
        return next((old for old in (name, *self.aliases[name]) if old in known), None)

    def evolve(self, fields: Mapping[str, Any], extras: Any = None) -> Any:
        """Return a record created from the fields of an earlier version of the class."""
        values = []
        for name in self.names:
            source = self.source(name, fields)
            values.append(fields[source] if source is not None else self.defaults.get(name, _none)())
        return self.build(values, extras if self.kind == "pydantic" else None)


def _none() -> None:
    return None


def _dataclass_fields(record_class: Any, defaults: dict[str, Callable[[], Any]]) -> list[str]:
    for field in dataclasses.fields(record_class):
        if field.default_factory is not dataclasses.MISSING:
            defaults[field.name] = field.default_factory
        elif field.default is not dataclasses.MISSING:
            defaults[field.name] = _constant(field.default)
    return [field.name for field in dataclasses.fields(record_class)]


def _struct_fields(record_class: Any, defaults: dict[str, Callable[[], Any]]) -> list[str]:
    library = importlib.import_module("msgspec")
    fields = library.structs.fields(record_class)
    for field in fields:
        if field.default_factory is not library.NODEFAULT:
            defaults[field.name] = field.default_factory
        elif field.default is not library.NODEFAULT:
            defaults[field.name] = _constant(field.default)
    return [field.name for field in fields]


def _model_fields(record_class: Any, defaults: dict[str, Callable[[], Any]]) -> list[str]:
    for name, field in record_class.model_fields.items():
        if not field.is_required():
            defaults[name] = field.get_default if field.default_factory is None else field.default_factory
    return list(record_class.model_fields)


def _constant(value: Any) -> Callable[[], Any]:
    return lambda: value


_READ_FIELDS = {"dataclass": _dataclass_fields, "msgspec": _struct_fields, "pydantic": _model_fields}


def _kind_of(record_class: Any) -> str | None:
    if not isinstance(record_class, type):
        return None
    if hasattr(record_class, "__struct_fields__"):
        return "msgspec"
    if hasattr(record_class, "__pydantic_fields__") or hasattr(record_class, "__pydantic_core_schema__"):
        return "pydantic"
    return "dataclass" if dataclasses.is_dataclass(record_class) else None


def is_record_class(value: Any) -> bool:
    """Return whether a value is a dataclass, a ``msgspec.Struct`` or a pydantic model (the class, not an instance)."""
    return _kind_of(value) is not None


# Declared classes

_layouts: dict[str, Layout] = {}
_of_class: dict[type, Layout] = {}
_not_found: set[str] = set()


def layout_of(record_class: type) -> Layout:
    """Return the layout of a class; from then on its instances are pickled by the names of their fields.

    Raises:
        ProgramError: If it is no record class, or customises pickling.
    """
    known = _of_class.get(record_class)
    if known is None:
        kind = _kind_of(record_class)
        if kind is None:
            raise ProgramError(
                f"{record_class!r} is not a class with declared fields",
                hint="give a dataclass, a msgspec.Struct or a pydantic model, or declare Types.PICKLED_BYTE_ARRAY()",
            )
        if kind == "dataclass" and (_has_own_pickling(record_class) or _has_own_making(record_class)):
            raise ProgramError(
                f"{record_class.__qualname__} customises the creation or pickling of its instances, so its fields cannot be determined",
                hint="leave out __reduce__, __getstate__ and __new__, or declare Types.PICKLED_BYTE_ARRAY()",
            )
        known = _of_class[record_class] = Layout(record_class, kind)
        copyreg.pickle(record_class, _reduce)
    # The newest class of a name is the program's: the worker of an earlier job may have another.
    _layouts[known.key] = known
    _not_found.discard(known.key)
    return known


def _has_own_making(record_class: Any) -> bool:
    return record_class.__new__ is not object.__new__


def _has_own_pickling(record_class: type) -> bool:
    for base in record_class.__mro__[:-1]:
        for name in ("__reduce__", "__reduce_ex__", "__getstate__", "__setstate__"):
            method = base.__dict__.get(name)
            # Dataclasses with slots get generated methods.
            if method is not None and not getattr(method, "__name__", "").startswith("_dataclass_"):
                return True
    return False


def _reduce(record: Any) -> tuple[Any, ...]:
    layout = _of_class[type(record)]
    values, extras = layout.parts(record)
    return rebuild, (layout.key, layout.names, values, extras)


def rebuild(key: str, names: tuple[str, ...], values: tuple[Any, ...], extras: Any = None) -> Any:
    """Return a pickled record; stored pickles refer to this function, so its name must not change."""
    layout = _layouts.get(key) or _find(key)
    if layout is None:
        return StoredRecord(key, dict(zip(names, values, strict=True)), extras)
    if layout.names == names:
        return layout.build(values, extras)
    return layout.evolve(dict(zip(names, values, strict=True)), extras)


def _find(key: str) -> Layout | None:
    """Return the layout of an undeclared class, None if there is none."""
    if key in _not_found:
        return None
    module, _, name = key.partition(":")
    try:
        found: Any = sys.modules.get(module) or importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        return layout_of(found)
    except Exception:  # noqa: BLE001 - the user's module may raise anything; a state that needs the class says so
        _not_found.add(key)
        return None


def fields_of(record: Any) -> tuple[dict[str, Any], Any] | None:
    """Return the fields of a record and its additional attributes, None if it is no record."""
    if isinstance(record, StoredRecord):
        return record.fields, record._extras
    if not is_record_class(type(record)):
        return None
    layout = layout_of(type(record))
    values, extras = layout.parts(record)
    return dict(zip(layout.names, values, strict=True)), extras


# Types of fields

_PLAIN: dict[Any, Callable[[], TypeInformation]] = {
    bool: lambda: BasicTypeInfo(BasicType.BOOLEAN),
    int: lambda: BasicTypeInfo(BasicType.LONG),
    float: lambda: BasicTypeInfo(BasicType.DOUBLE),
    str: lambda: BasicTypeInfo(BasicType.STRING),
    decimal.Decimal: lambda: BasicTypeInfo(BasicType.BIG_DEC),
    bytes: lambda: PrimitiveArrayTypeInfo(BasicTypeInfo(BasicType.BYTE)),
    datetime.date: DateTypeInfo,
    datetime.time: TimeTypeInfo,
    datetime.datetime: TimestampTypeInfo,
}


def _hints(record_class: type, names: Sequence[str]) -> dict[str, Any]:
    """Return the annotations of the fields; Any for names that cannot be resolved."""
    try:
        hints = typing.get_type_hints(record_class, include_extras=True)
        return {name: hints.get(name, Any) for name in names}
    except Exception:  # noqa: BLE001 - one name that is not to be found spoils all; so they are looked at one by one
        return {name: _hint(record_class, name) for name in names}


def _hint(record_class: type, name: str) -> Any:
    for base in record_class.__mro__:
        hint = inspect.get_annotations(base).get(name)
        if hint is None:
            continue
        if not isinstance(hint, str):
            return hint
        holder = type("_Holder", (), {"__annotations__": {name: hint}, "__module__": base.__module__})
        try:
            return typing.get_type_hints(holder, include_extras=True)[name]
        except Exception:  # noqa: BLE001 - see above
            return Any
    return Any


def _aliases(hint: Any) -> tuple[str, ...]:
    return tuple(extra.name for extra in getattr(hint, "__metadata__", ()) if isinstance(extra, Alias))


def _bare(hint: Any) -> Any:
    return hint.__origin__ if hasattr(hint, "__metadata__") else hint


def _is_union(hint: Any) -> bool:
    return typing.get_origin(hint) in (typing.Union, types.UnionType)


def _is_optional(hint: Any) -> bool:
    return _is_union(_bare(hint)) and type(None) in typing.get_args(_bare(hint))


def _type_of(hint: Any, within: tuple[Any, ...]) -> TypeInformation:
    """Return the type of an annotation; pickled objects where there is no specific one, and for recursive classes."""
    hint = _bare(hint)
    if _is_union(hint):
        others = [option for option in typing.get_args(hint) if option is not type(None)]
        return _type_of(others[0], within) if len(others) == 1 else PickledBytesTypeInfo()
    if hint in _PLAIN:
        return _PLAIN[hint]()
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is list and parts:
        return ListTypeInfo(_type_of(parts[0], within))
    if origin is dict and parts:
        return MapTypeInfo(_type_of(parts[0], within), _type_of(parts[1], within))
    if origin is tuple and parts and Ellipsis not in parts:
        return TupleTypeInfo([_type_of(part, within) for part in parts])
    if is_record_class(hint) and hint not in within:
        return RecordTypeInfo(hint)
    return PickledBytesTypeInfo()


class RecordTypeInfo(PickledBytesTypeInfo):
    """The type of the instances of a dataclass, a ``msgspec.Struct`` or a pydantic model.

    Args:
        record_class: The class.

    Raises:
        ProgramError: If it is no record class, or customises pickling.
    """

    tag = "record"

    def __init__(self, record_class: type) -> None:
        self._take(layout_of(record_class))

    def _take(self, layout: Layout) -> None:
        self.layout: Layout | None = layout
        self.key = layout.key
        self.names = layout.names
        self.types = layout.types

    @staticmethod
    def stored(key: str, names: Sequence[str], types: Sequence[TypeInformation]) -> RecordTypeInfo:
        """Return the type as stored in a snapshot, without its class."""
        kind = RecordTypeInfo.__new__(RecordTypeInfo)
        kind.layout, kind.key, kind.names, kind.types = None, key, tuple(names), tuple(types)
        return kind

    def __reduce__(self) -> tuple[Any, ...]:
        if self.layout is None:
            return RecordTypeInfo.stored, (self.key, self.names, self.types)
        return RecordTypeInfo, (self.layout.record_class,)

    def children(self) -> tuple[TypeInformation, ...]:
        return self.types

    def parameters(self) -> dict[str, Any]:
        return {"class": self.key, "names": list(self.names)}

    def _equality_key(self) -> Any:
        return self.key, self.names

    def __repr__(self) -> str:
        pairs = zip(self.names, self.types, strict=True)
        return f"{self.key.partition(':')[2]}({', '.join(f'{name}: {kind}' for name, kind in pairs)})"
