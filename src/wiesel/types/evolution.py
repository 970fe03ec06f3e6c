"""Internal. Schema evolution: changes of a declared type that stored state survives, and the conversion of old values.

Allowed: wider numbers (BYTE < SHORT < INT < LONG < BIG_INT, FLOAT < DOUBLE, an integer to BIG_DEC), fields of a named row added (``None``
in old values), removed or reordered, a declared type changed to PICKLED_BYTE_ARRAY, and any of these inside lists, maps, arrays, tuples and
rows. Everything else is rejected.

Records (``wiesel.types.records``) as well: fields added that have a default or may be ``None``, removed, reordered, renamed with an alias,
and widened, including from ``int`` to ``float``. The class may be renamed. Fields of rows can be renamed by aliases, too.
"""

from __future__ import annotations

import decimal
import enum
from collections.abc import Callable
from typing import Any, TypeAlias

from wiesel.core.errors import StateMigrationError
from wiesel.types.records import RecordTypeInfo, fields_of
from wiesel.types.row import make_row
from wiesel.types.typeinfo import (
    BasicType,
    BasicTypeInfo,
    ExternalTypeInfo,
    MapTypeInfo,
    PickledBytesTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    TypeInformation,
)

__all__ = ["Compatibility", "compatibility", "keys_stay", "migrator", "mismatch", "resolver"]

Migration: TypeAlias = Callable[[Any], Any]


class Compatibility(enum.Enum):
    """Conversion of stored bytes needed to read them under a new type."""

    COMPATIBLE = "compatible"
    MIGRATE = "migrate"
    INCOMPATIBLE = "incompatible"


_INTEGERS = (BasicType.BYTE, BasicType.SHORT, BasicType.INT, BasicType.LONG, BasicType.BIG_INT)


def compatibility(old: TypeInformation, new: TypeInformation) -> Compatibility:
    """Return the conversion needed for values of the old type."""
    if _names(old) == _names(new) and old == new:
        return Compatibility.COMPATIBLE
    return Compatibility.INCOMPATIBLE if _migration(old, new) is None else Compatibility.MIGRATE


def migrator(old: TypeInformation, new: TypeInformation) -> Migration:
    """Return the function from values of the old type to values of the new one.

    Raises:
        StateMigrationError: If there is none.
    """
    migration = _migration(old, new)
    if migration is None:
        raise StateMigrationError(
            f"state of type {old} cannot become state of type {new}",
            hint="declare the old type again, or give the state a new name and drop the old one",
        )
    return migration


def keys_stay(old: TypeInformation, new: TypeInformation) -> bool:
    """Return whether keys of the old type, coerced to the new one, are the same keys, so that their state is found.

    Stricter than :func:`compatibility`: keys are not converted, so integers may only become wider, alone or inside tuples, rows and lists.
    Nothing is known about pickled objects, so they are considered the same keys.
    """
    old, new = (kind._type_info if isinstance(kind, ExternalTypeInfo) else kind for kind in (old, new))
    if PickledBytesTypeInfo in (type(old), type(new)):
        return True
    if isinstance(old, BasicTypeInfo) and isinstance(new, BasicTypeInfo):
        # 1 and Decimal(1) are one key; 0.1 as FLOAT and as DOUBLE are two.
        return old == new or (old._basic_type in _INTEGERS and _widening(old._basic_type, new._basic_type) is not None)
    parts = old.children(), new.children()
    if type(old) is not type(new) or old.parameters() != new.parameters() or len(parts[0]) != len(parts[1]):
        return False
    return old == new if not parts[0] else all(map(keys_stay, *parts))


def _names(kind: TypeInformation) -> Any:
    """Return the names of all rows in a type: they are not part of the equality of types, but stored rows contain them."""
    names = kind.get_field_names() if isinstance(kind, RowTypeInfo) else None
    return names, [_names(child) for child in kind.children()]


def _unchanged(value: Any) -> Any:
    return value


def _migration(old: TypeInformation, new: TypeInformation) -> Migration | None:
    if old == new and _names(old) == _names(new) and not _has_records(new):
        return _unchanged
    if isinstance(new, RecordTypeInfo):
        return _record(old, new)
    if isinstance(new, PickledBytesTypeInfo):
        return _unchanged
    if isinstance(new, ExternalTypeInfo) or isinstance(old, ExternalTypeInfo):
        bare = [kind._type_info if isinstance(kind, ExternalTypeInfo) else kind for kind in (old, new)]
        return _migration(bare[0], bare[1])
    if isinstance(old, BasicTypeInfo) and isinstance(new, BasicTypeInfo):
        return _widening(old._basic_type, new._basic_type)
    if isinstance(old, RowTypeInfo) and isinstance(new, RowTypeInfo):
        return _row(old, new)
    if isinstance(old, TupleTypeInfo) and isinstance(new, TupleTypeInfo):
        return _tuple(old, new)
    if isinstance(old, MapTypeInfo) and isinstance(new, MapTypeInfo):
        return _map(old, new)
    if type(old) is type(new) and len(old.children()) == 1 == len(new.children()):
        element = _nullable(_migration(old.children()[0], new.children()[0]))
        return None if element is None else lambda value: [element(item) for item in value]
    return None


def _widening(old: BasicType, new: BasicType) -> Migration | None:
    if old in _INTEGERS and new in _INTEGERS and _INTEGERS.index(old) <= _INTEGERS.index(new):
        return _unchanged
    if (old, new) == (BasicType.FLOAT, BasicType.DOUBLE):
        return _unchanged
    if old in _INTEGERS and new is BasicType.BIG_DEC:
        return decimal.Decimal
    return None


def _nullable(migration: Migration | None) -> Migration | None:
    if migration is None or migration is _unchanged:
        return migration
    return lambda value: None if value is None else migration(value)


def _row(old: RowTypeInfo, new: RowTypeInfo) -> Migration | None:
    old_names, new_names = old.get_field_names(), new.get_field_names()
    if _by_position(old, new) and len(old_names) != len(new_names):
        return None
    sources: list[tuple[int, Migration]] = []
    for position, source in enumerate(_row_sources(old, new)):
        migration = _unchanged if source < 0 else _nullable(_migration(old.get_field_types()[source], new.get_field_types()[position]))
        if migration is None:
            return None
        sources.append((source, migration))

    def migrate(row: Any) -> Any:
        values = row._values
        return make_row(new_names, [None if source < 0 else change(values[source]) for source, change in sources], row._row_kind)

    return migrate


def _by_position(old: RowTypeInfo, new: RowTypeInfo) -> bool:
    return old._field_names is None or new._field_names is None


def _row_sources(old: RowTypeInfo, new: RowTypeInfo) -> list[int]:
    """Return the index of each new field in the old type, -1 for new fields."""
    old_names, new_names = old.get_field_names(), new.get_field_names()
    if _by_position(old, new):
        return list(range(len(new_names)))
    earlier = [next((known for known in (name, *new.earlier_names(name)) if known in old_names), None) for name in new_names]
    return [-1 if name is None else old_names.index(name) for name in earlier]


def _row_mismatches(old: RowTypeInfo, new: RowTypeInfo) -> list[str]:
    before, after = old.get_field_types(), new.get_field_types()
    if _by_position(old, new) and len(before) != len(after):
        return [f"there were {len(before)} fields without names and are {len(after)}"]
    sources = enumerate(_row_sources(old, new))
    pairs = [(old.get_field_names()[source], before[source], after[position]) for position, source in sources if source >= 0]
    return [f"field {name!r} is {a} and cannot become {b}" for name, a, b in pairs if _migration(a, b) is None]


def _record(old: TypeInformation, new: RecordTypeInfo) -> Migration | None:
    """Return the function that creates records of the present class; also for instances of earlier versions or other classes."""
    layout = new.layout
    if layout is None:
        return None
    if type(old) is PickledBytesTypeInfo:
        old = new  # nothing was declared: the type of the values is known when they are read
    if not isinstance(old, RecordTypeInfo) or _mismatches(old, new):
        return None
    kinds = dict(zip(old.names, old.types, strict=True))
    changes: dict[str, Migration] = {}
    for name, kind in zip(new.names, new.types, strict=True):
        source = layout.source(name, kinds)
        change = None if source is None else _field(kinds[source], kind)
        if change is not None and change is not _unchanged:
            changes[name] = _unless_none(change)

    def migrate(value: Any) -> Any:
        if type(value) is layout.record_class and not changes:
            return value
        found = fields_of(value)
        if found is None:
            return value
        fields = dict(found[0])
        for name, change in changes.items():
            source = layout.source(name, fields)
            if source is not None:
                fields[source] = change(fields[source])
        return layout.evolve(fields, found[1] if type(value) is layout.record_class else None)

    return migrate


def _unless_none(change: Migration) -> Migration:
    return lambda value: None if value is None else change(value)


def _field(old: TypeInformation, new: TypeInformation) -> Migration | None:
    if isinstance(old, BasicTypeInfo) and isinstance(new, BasicTypeInfo):
        if old._basic_type in _INTEGERS and new._basic_type is BasicType.DOUBLE:
            return _as_float
        if old._basic_type in _INTEGERS and new._basic_type is BasicType.BIG_DEC:
            return decimal.Decimal
    return _migration(old, new)


def _as_float(value: Any) -> Any:
    try:
        return float(value)
    except OverflowError:
        return value


def _mismatches(old: RecordTypeInfo, new: RecordTypeInfo) -> list[str]:
    layout, kinds, found = new.layout, dict(zip(old.names, old.types, strict=True)), []
    if layout is None:
        return ["its class is not known"]
    for name, kind in zip(new.names, new.types, strict=True):
        source = layout.source(name, kinds)
        if source is None:
            if name not in layout.defaults:
                found.append(f"field {name!r} is new and has no default")
        elif _field(kinds[source], kind) is None:
            found.append(f"field {source!r} is {kinds[source]} and cannot become {kind}")
    return found


def mismatch(old: TypeInformation, new: TypeInformation) -> str:
    """Return the reasons why values of the old type cannot be converted, as far as single fields are concerned."""
    if isinstance(old, RecordTypeInfo) and isinstance(new, RecordTypeInfo):
        return "; ".join(_mismatches(old, new))
    if isinstance(old, RowTypeInfo) and isinstance(new, RowTypeInfo):
        return "; ".join(_row_mismatches(old, new))
    pairs = zip(old.children(), new.children(), strict=False) if type(old) is type(new) else ()
    return "; ".join(text for pair in pairs if _migration(*pair) is None and (text := mismatch(*pair)))


def resolver(kind: TypeInformation) -> Migration | None:
    """Return the function that converts stored records whose class was unknown when they were read to records of the declared class.

    ``None`` if a type contains no records.
    """
    return _migration(kind, kind) if _has_records(kind) else None


def _has_records(kind: TypeInformation) -> bool:
    return isinstance(kind, RecordTypeInfo) or any(map(_has_records, kind.children()))


def _tuple(old: TupleTypeInfo, new: TupleTypeInfo) -> Migration | None:
    pairs = list(zip(old.get_field_types(), new.get_field_types(), strict=False))
    migrations = [_migration(a, b) for a, b in pairs]
    if len(old.get_field_types()) != len(new.get_field_types()) or None in migrations:
        return None
    changes = [migration for migration in migrations if migration is not None]
    return lambda value: tuple(change(item) for change, item in zip(changes, value, strict=True))


def _map(old: MapTypeInfo, new: MapTypeInfo) -> Migration | None:
    key = _migration(old._key_type_info, new._key_type_info)
    item = _nullable(_migration(old._value_type_info, new._value_type_info))
    if key is None or item is None:
        return None
    return lambda value: {key(k): item(v) for k, v in value.items()}
