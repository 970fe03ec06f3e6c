"""Internal. Parser of JSON paths of the library Jayway JsonPath, as used by Flink: ``$.a[0].b``, ``$..b``, ``$.a[?(@.b > 1)]``."""

from __future__ import annotations

import decimal
import json
import re
from functools import lru_cache
from json.encoder import encode_basestring
from typing import Any, NoReturn

from wiesel.columnar.functions.json_steps import (
    Children,
    Condition,
    Descendants,
    Elements,
    Filter,
    Members,
    Path,
    Slice,
    Step,
    compared,
    found_at,
    is_there,
)

__all__ = ["Path", "Raw", "compile_path", "in_order", "parse_json", "to_json"]

Value = Any
_CONTROL = re.compile(r"\\(u00[01][0-9a-f]|.)")


class Raw(str):
    """A part of a value that is already JSON text."""

    __slots__ = ()


def parse_json(text: str) -> Value:
    """Return the parsed value, with fractions as decimals.

    Raises:
        ValueError: If it is not JSON.
    """
    return json.loads(text, parse_float=decimal.Decimal, parse_constant=_refuse)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def in_order(value: Value) -> Value:
    """Return a value whose objects have their keys in the order of Java's strings."""
    if isinstance(value, dict):
        return {key: in_order(value[key]) for key in sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))}
    return [in_order(part) for part in value] if isinstance(value, list) else value


def to_json(value: Value) -> str:
    """Return the shortest JSON text of a value; decimals keep their digits."""
    if isinstance(value, dict):
        return f"{{{','.join(f'{to_json(key)}:{to_json(part)}' for key, part in value.items())}}}"
    if isinstance(value, list):
        return f"[{','.join(map(to_json, value))}]"
    if isinstance(value, str):
        return value if isinstance(value, Raw) else _quoted(value)
    return str(value) if isinstance(value, decimal.Decimal) else json.dumps(value)


def _quoted(text: str) -> str:
    """Return a JSON string in Java's form, which writes the codes of control characters in upper case."""
    shown = encode_basestring(text)
    return _CONTROL.sub(lambda found: "\\" + found[1][0] + found[1][1:].upper(), shown) if "\\u00" in shown else shown


_MODE = re.compile(r"\s*(?:(strict|lax)\s+)?(.*?)\s*", re.DOTALL | re.IGNORECASE)
_NAME = re.compile(r"[^.\[\]()\s]+")
_QUOTED = re.compile(r"\s*(?:'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\")\s*")
_COMPARISON = re.compile(r"\s*@((?:\.[^\s=<>!~&|)]+|\[[^\]]*\])*)\s*(?:(==|!=|<=|>=|<|>|=~)\s*(.+?))?\s*")


@lru_cache(maxsize=256)
def compile_path(text: str) -> Path:
    """Return a path.

    Raises:
        ValueError: If it is none, or has parts that are not supported.
    """
    found = _MODE.fullmatch(text)
    mode, body = (found[1], found[2]) if found else (None, text)
    if not body.startswith("$"):
        raise ValueError(f"the path {text!r} does not begin with $")
    return Path(text, (mode or "strict").lower() == "strict", tuple(_steps(body, 1)))


def _steps(body: str, place: int) -> list[Step]:
    steps: list[Step] = []
    while place < len(body):
        if body.startswith("..", place):
            steps.append(Descendants())
            place += 2
            if body.startswith("[", place):
                continue
        elif body.startswith(".[", place):
            place += 1
            continue
        elif body[place] == ".":
            place += 1
        elif body[place] == "[":
            inner, place = _bracketed(body, place)
            steps.append(_bracket_step(inner))
            continue
        else:
            raise ValueError(f"the path {body!r} cannot be read at {body[place:]!r}")
        step, place = _named(body, place)
        steps.append(step)
    return steps


def _named(body: str, place: int) -> tuple[Step, int]:
    if body.startswith("*", place):
        return Children(), place + 1
    found = _NAME.match(body, place)
    if found is None or body[found.end() : found.end() + 1] == "(":
        raise ValueError(f"the path {body!r} cannot be read at {body[place:]!r}")
    return Members((found[0],)), found.end()


def _bracketed(body: str, place: int) -> tuple[str, int]:
    """Return the contents of a bracket up to its closing one."""
    depth, quote, at = 0, "", place
    while at < len(body):
        character = body[at]
        if quote:
            quote = "" if character == quote and body[at - 1] != "\\" else quote
        elif character in "'\"":
            quote = character
        elif character in "[(":
            depth += 1
        elif character in "])":
            depth -= 1
            if not depth:
                return body[place + 1 : at].strip(), at + 1
        at += 1
    raise ValueError(f"the path {body!r} has a bracket that is not closed")


def _bracket_step(inner: str) -> Step:
    if inner == "*":
        return Children()
    if inner.startswith("?(") and inner.endswith(")"):
        return Filter(_condition(inner[2:-1]))
    names = _names(inner)
    if names is not None:
        return Members(tuple(names))
    if re.fullmatch(r"-?\d+(\s*,\s*-?\d+)*", inner):
        return Elements(tuple(int(part) for part in inner.split(",")))
    if re.fullmatch(r"(-?\d+\s*:\s*(-?\d+)?|:\s*-?\d+)", inner):
        first, last = (int(part) if part.strip() else None for part in inner.split(":"))
        return Slice(first, last)
    raise ValueError(f"[{inner}] cannot be used in a path")


def _names(inner: str) -> list[str] | None:
    names, place = [], 0
    while True:
        found = _QUOTED.match(inner, place)
        if found is None:
            return None
        names.append(re.sub(r"\\(.)", r"\1", found[1] if found[1] is not None else found[2]))
        place = found.end()
        if place == len(inner):
            return names
        if inner[place] != ",":
            return None
        place += 1


def _condition(text: str) -> Condition:
    for sign, combine in (("||", any), ("&&", all)):
        parts = text.split(sign)
        if len(parts) > 1:
            tests = [_condition(part) for part in parts]
            return lambda value, lax, combine=combine: combine(test(value, lax) for test in tests)  # type: ignore[misc]
    found = _COMPARISON.fullmatch(text.strip().removeprefix("(").removesuffix(")") if text.strip().startswith("(") else text)
    if found is None:
        raise ValueError(f"the filter {text!r} is not supported")
    path = tuple(_steps(found[1], 0))
    sign, literal = found[2], found[3]
    if sign is None:
        return lambda value, lax: is_there(path, value)
    wanted = _literal(literal, sign)
    return lambda value, lax: compared(found_at(path, value, lax), sign, wanted)


def _literal(text: str, sign: str) -> Value:
    if sign == "=~":
        found = re.fullmatch(r"/(.*)/(i?)", text)
        if found is None:
            raise ValueError(f"{text!r} is no regular expression between slashes")
        return re.compile(found[1], re.IGNORECASE if found[2] else 0)
    quoted = _QUOTED.fullmatch(text)
    if quoted is not None:
        return quoted[1] if quoted[1] is not None else quoted[2]
    return parse_json(text)
