"""Internal. Pickles of objects together with the code of the user's script, by ``cloudpickle``, including ``msgspec.Struct`` classes.

``cloudpickle`` recreates a class from its name and bases, and sets its attributes afterwards. A ``Struct`` defines its fields and options
during creation, so one of the user's script would lose them.

Code keeps its file name, so that errors refer to the user's line: ``cloudpickle`` removes it from version 3.1.3 on.

When the pickle of a class is read in the process that defines the class, ``cloudpickle`` finds the class and overwrites its methods with
those of the pickle, whose global variables are copies. Pickles created here leave such a class unchanged.
"""

from __future__ import annotations

import inspect
import io
import sys
import weakref
from collections.abc import Callable, Mapping
from types import CodeType
from typing import Any

import cloudpickle

__all__ = ["dumps"]

PROTOCOL = 5
_OPTIONS = (
    "frozen", "eq", "order", "array_like", "gc", "repr_omit_defaults", "omit_defaults", "forbid_unknown_fields", "weakref", "dict",
    "cache_hash", "tag", "tag_field",
)  # fmt: skip


def dumps(value: Any, protocol: int = PROTOCOL) -> bytes:
    """Pickle a value; functions and classes that workers cannot import are pickled by value. ``pickle.loads`` reads it.

    Raises:
        Exception: Any error of pickling.
    """
    with io.BytesIO() as file:
        _Pickler(file, protocol=protocol).dump(value)
        return file.getvalue()


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, CodeType):
            make, parts = cloudpickle.cloudpickle._code_reduce(obj)
            return make, tuple(obj.co_filename if part == _NO_FILE else part for part in parts)
        reduced = super().reducer_override(obj)
        if not isinstance(obj, type) or reduced is NotImplemented or len(reduced) != _PARTS_OF_CLASS:
            return reduced
        if obj not in _received_classes:
            _own_classes.add(obj)
        # Arguments of the creation of the class (metaclass, name, bases, namespace, ...), and the attributes set afterwards.
        make, arguments, contents, *items, _ = reduced
        if hasattr(obj, "__struct_fields__"):
            metaclass, *rest = arguments
            arguments = (_StructMaker(metaclass, _options(obj), _fields(obj), hasattr(obj, "__post_init__")), *rest)
        return (make, arguments, contents, *items, set_class_contents)


_NO_FILE = "<dynamic-code>"
_PARTS_OF_CLASS = 6  # cloudpickle reduces a class pickled by value to six parts, others to two parts or by name

_own_classes: weakref.WeakSet[type] = weakref.WeakSet()
_received_classes: weakref.WeakSet[type] = weakref.WeakSet()


def set_class_contents(made: type, contents: Any) -> type:
    """Set the attributes of an unpickled class, unless this process defines it; stored pickles refer to this function."""
    if made not in _own_classes:
        _received_classes.add(made)
        cloudpickle.cloudpickle._class_setstate(made, contents)
    return made


class _StructMaker:
    """Replaces the metaclass of structs in pickles, with the parameters of one of them."""

    def __init__(self, metaclass: Callable[..., Any], options: Mapping[str, Any], fields: Mapping[str, Any], post_init: bool) -> None:
        self.metaclass, self.options, self.fields, self.post_init = metaclass, options, fields, post_init

    def __call__(self, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> Any:
        library = sys.modules[self.metaclass.__module__.partition(".")[0]]
        namespace["__annotations__"] = {field: kind for field, (kind, *_) in self.fields.items()}
        for field, (_, encoded, default) in self.fields.items():
            namespace[field] = library.field(name=encoded, **default)
        if self.post_init:
            namespace["__post_init__"] = _post_init
        return self.metaclass(name, bases, namespace, **self.options)


def _post_init(self: Any) -> None:
    # A struct stores its definition; the method of the user's class is added later, and found by its name.
    self.__post_init__()


def _options(struct: Any) -> dict[str, Any]:
    own = inspect.get_annotations(struct)
    parameters = inspect.signature(struct).parameters
    keywords_only = any(parameters[name].kind is inspect.Parameter.KEYWORD_ONLY for name in own if name in parameters)
    return {"kw_only": keywords_only, **{name: getattr(struct.__struct_config__, name) for name in _OPTIONS}}


def _fields(struct: Any) -> dict[str, tuple[Any, str, dict[str, Any]]]:
    """Return the fields that the class itself has: name -> annotation, name when encoded, and its default as an argument."""
    own = inspect.get_annotations(struct)
    names, encoded, defaults = struct.__struct_fields__, struct.__struct_encode_fields__, struct.__struct_defaults__
    nodefault = sys.modules["msgspec"].NODEFAULT
    by_name = dict(zip(names, (*[nodefault] * (len(names) - len(defaults)), *defaults), strict=True))
    return {
        name: (own[name], encoded_name, _default(by_name[name], nodefault))
        for name, encoded_name in zip(names, encoded, strict=True)
        if name in own
    }


def _default(value: Any, nodefault: Any) -> dict[str, Any]:
    if value is nodefault:
        return {}
    factory = getattr(value, "factory", None) if type(value).__module__.partition(".")[0] == "msgspec" else None
    return {"default": value} if factory is None else {"default_factory": factory}
