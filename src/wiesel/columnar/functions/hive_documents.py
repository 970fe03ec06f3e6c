"""Internal. Hive functions that query XML and JSON documents, by Hive's rules.

XML is read by a parser that rejects entities, so that no document makes a task read files, use the network or exhaust its memory.
"""

from __future__ import annotations

import functools
import importlib
import json
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

from wiesel.columnar.functions.kernels import by_value
from wiesel.columnar.functions.registry import ScalarFunction, register
from wiesel.columnar.functions.signatures import TEXT, returning_null, taking
from wiesel.columnar.type_rules import STRING
from wiesel.core.optional import require
from wiesel.types import logical as t

__all__: list[str] = []

_KEPT = 256


@functools.cache
def _library() -> Any:
    library = require("elementpath", "reading XML by paths", "xml")
    importlib.import_module("elementpath.etree")
    return library


@functools.lru_cache(_KEPT)
def _path(text: str) -> Any:
    """Return a compiled XPath 1.0 expression; None if it is invalid, which makes Hive return NULL."""
    library = _library()
    try:
        return library.XPath1Parser().parse(text)
    except library.ElementPathError:
        return None


def _found(document: str, path: str) -> Any:
    """Evaluate an XPath: nodes in document order, a boolean, number or string; None for an empty document."""
    library = _library()
    parsed = _path(path) if document and path else None
    if parsed is None:
        return None
    try:
        library.etree.defuse_xml(document)
        context = library.XPathContext(ET.ElementTree(ET.fromstring(document)))  # noqa: S314 - entities were refused
        nodes = parsed.evaluate(context)
        return list(nodes) if isinstance(nodes, list) else nodes
    except (ET.ParseError, library.ElementPathError, library.etree.ElementTree.ParseError) as error:
        raise ValueError(f"the text is no XML that can be read: {error}") from error


def _text(found: Any) -> str:
    """Return the value of XPath's ``string()``."""
    if isinstance(found, list):
        return found[0].string_value if found else ""
    if isinstance(found, bool):
        return str(found).lower()
    if isinstance(found, str):
        return found
    number = float(found)
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    return str(int(number)) if number.is_integer() else repr(number)


def _number(found: Any) -> float:
    """Return the value of XPath's ``number()``."""
    if isinstance(found, bool | int | float) or not isinstance(found, str | list):
        return float(found)
    text = _text(found).strip()
    return float(text) if re.fullmatch(r"-?(\d+(\.\d*)?|\.\d+)", text) else math.nan


def _truth(found: Any) -> bool:
    """Return the value of XPath's ``boolean()``."""
    return bool(found) and not (isinstance(found, float) and math.isnan(found))


def _within(number: float, bits: int) -> int:
    """Convert a number to an integer as in Java: 0 for NaN, saturated at the bounds of the type."""
    if math.isnan(number):
        return 0
    bound = 1 << (bits - 1)
    return int(max(-bound, min(bound - 1, number))) if math.isfinite(number) else (bound - 1 if number > 0 else -bound)


def _short(number: float) -> int:
    return (_within(number, 32) + (1 << 15)) % (1 << 16) - (1 << 15)


def _strings(found: Any) -> list[str]:
    """Return the text nodes and attributes among nodes; elements have no value themselves."""
    if not isinstance(found, list):
        raise ValueError("the path leads to no nodes")
    return [node.string_value for node in found if not hasattr(node, "elem")]


def _xpath(convert: Callable[[Any], Any]) -> Callable[[str, str], Any]:
    def evaluate(document: str, path: str) -> Any:
        found = _found(document, path)
        return None if found is None else convert(found)

    return evaluate


_XPATHS: dict[str, tuple[t.DataType, Callable[[Any], Any]]] = {
    "XPATH": (t.ArrayType(STRING), _strings),
    "XPATH_STRING": (STRING, _text),
    "XPATH_BOOLEAN": (t.BooleanType(), _truth),
    "XPATH_DOUBLE": (t.DoubleType(), _number),
    "XPATH_NUMBER": (t.DoubleType(), _number),
    "XPATH_FLOAT": (t.FloatType(), _number),
    "XPATH_SHORT": (t.SmallIntType(), lambda found: _short(_number(found))),
    "XPATH_INT": (t.IntType(), lambda found: _within(_number(found), 32)),
    "XPATH_LONG": (t.BigIntType(), lambda found: _within(_number(found), 64)),
}
for _name, (_type, _convert) in _XPATHS.items():
    register(ScalarFunction(f"hive.{_name}", taking(returning_null(_type), TEXT, TEXT), by_value(_xpath(_convert)), may_fail=True))


# JSON


_STEP = re.compile(r"\.(?P<name>[^.\[\]]+)|\[(?P<place>\d+|\*)\]")


@functools.lru_cache(_KEPT)
def _steps(path: str) -> list[str | int | None] | None:
    """Return the names and indexes of a path, None for a wildcard; None for an invalid path."""
    if not path.startswith("$"):
        return None
    steps: list[str | int | None] = []
    at = 1
    while at < len(path):
        step = _STEP.match(path, at)
        if step is None:
            return None
        name, place = step["name"], step["place"]
        steps.append(name if name is not None else None if place == "*" else int(place))
        at = step.end()
    return steps


def _walk(value: Any, steps: list[str | int | None]) -> list[Any]:
    """Return all values that a path leads to."""
    found = [value]
    for step in steps:
        if isinstance(step, str):
            # A name also applies to the elements of an array, as in Hive.
            objects = [each for one in found for each in (one if isinstance(one, list) else [one]) if isinstance(each, dict)]
            found = [each[step] for each in objects if step in each]
        elif step is None:
            found = [each for one in found if isinstance(one, list) for each in one]
        else:
            found = [one[step] for one in found if isinstance(one, list) and step < len(one)]
    return found


def _json_object(document: str, path: str) -> str | None:
    steps = _steps(path)
    if steps is None:
        return None
    try:
        value = json.loads(document)
    except ValueError:
        return None
    found = _walk(value, steps)
    if not found:
        return None
    shown = found if len(found) > 1 else found[0]
    if shown is None:
        return None
    return shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False, separators=(",", ":"))


register(ScalarFunction("hive.GET_JSON_OBJECT", taking(returning_null(STRING), TEXT, TEXT), by_value(_json_object)))
