"""Internal. Translation of Java's regular expressions to Python's."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

__all__ = ["compiled", "like_pattern", "similar_pattern"]

_POSIX = {
    "Lower": "a-z", "Upper": "A-Z", "ASCII": r"\x00-\x7f", "Alpha": "a-zA-Z", "Digit": "0-9", "Alnum": "a-zA-Z0-9",
    "Punct": r"!-/:-@\[-`{-~", "Graph": "!-~", "Print": " -~", "Blank": r" \t", "Cntrl": r"\x00-\x1f\x7f", "XDigit": "0-9a-fA-F",
    "Space": r" \t\n\x0b\f\r",
}  # fmt: skip
_ESCAPES = {"h": r" \t\xa0\u1680\u180e\u2000-\u200a\u202f\u205f\u3000", "e": r"\x1b", "v": r"\n\x0b\f\r\x85\u2028\u2029"}
_ANY = r"[^\n\r\x85\u2028\u2029]"


@lru_cache(maxsize=512)
def compiled(pattern: str) -> re.Pattern[str]:
    """Return the Python pattern equivalent to a Java pattern.

    Raises:
        ValueError: If it is no regular expression of Java, or has intersections of classes, which Python does not support.
    """
    try:
        return re.compile(_translated(pattern), re.ASCII)
    except re.error as error:
        raise ValueError(f"{pattern!r} is no regular expression: {error}") from error


def _translated(pattern: str) -> str:
    parts: list[str] = []
    place, in_class = 0, False
    while place < len(pattern):
        character = pattern[place]
        if character == "\\":
            text, place = _escape(pattern, place, in_class)
            parts.append(text)
            continue
        if in_class and pattern.startswith("&&", place):
            raise ValueError(f"{pattern!r} has an intersection of classes (&&), which is not supported")
        if in_class and character == "[":
            raise ValueError(f"{pattern!r} has a class within a class, which is not supported")
        if character == "[" and not in_class:
            in_class = True
            begin = 2 if pattern.startswith("[^", place) else 1
            parts.append(pattern[place : place + begin])
            place += begin
            continue
        if character == "]":
            in_class = False
        parts.append(_outside(pattern, place) if not in_class else character)
        place += 1
    return "".join(parts)


def _outside(pattern: str, place: int) -> str:
    if pattern.startswith("(?<", place) and pattern[place + 3 : place + 4] not in ("=", "!"):
        return "("
    if pattern[place] == "?" and pattern.startswith("(?<", place - 1) and pattern[place + 2 : place + 3] not in ("=", "!"):
        return "?P"
    return _ANY if pattern[place] == "." else pattern[place]


def _escape(pattern: str, place: int, in_class: bool) -> tuple[str, int]:
    letter = pattern[place + 1 : place + 2]
    if not letter:
        raise ValueError(f"{pattern!r} ends with a backslash")
    if letter in "pP":
        name, place = _property_name(pattern, place + 2)
        return _wrapped(_class_of(name), letter == "P", in_class), place
    if letter == "Q":
        end = pattern.find("\\E", place + 2)
        end = len(pattern) if end < 0 else end
        return re.escape(pattern[place + 2 : end]), end + 2
    if letter == "k":
        found = re.match(r"<(\w+)>", pattern[place + 2 :])
        if found is None:
            raise ValueError(f"{pattern!r} has a reference without a name")
        return f"(?P={found[1]})", place + 2 + found.end()
    simple = {"z": r"\Z", "Z": r"(?=\n?\Z)", "R": r"(?:\r\n|[\n\x0b\f\r\x85\u2028\u2029])"}
    if letter in simple and not in_class:
        return simple[letter], place + 2
    if letter.lower() in _ESCAPES:
        return _wrapped(_ESCAPES[letter.lower()], letter.isupper(), in_class), place + 2
    return pattern[place : place + 2], place + 2


def _wrapped(characters: str, negated: bool, in_class: bool) -> str:
    if not in_class:
        return f"[{'^' if negated else ''}{characters}]"
    if negated:
        raise ValueError("a negated property within a class is not supported")
    return characters


def _property_name(pattern: str, place: int) -> tuple[str, int]:
    if pattern[place : place + 1] != "{":
        return pattern[place], place + 1
    end = pattern.find("}", place)
    if end < 0:
        raise ValueError(f"{pattern!r} has a property without its end")
    return pattern[place + 1 : end], end + 1


@lru_cache(maxsize=64)
def _class_of(name: str) -> str:
    if name in _POSIX:
        return _POSIX[name]
    plain = name.removeprefix("Is").removeprefix("general_category=").removeprefix("gc=")
    plain = {"Alphabetic": "L", "Letter": "L", "Digit": "Nd", "Uppercase": "Lu", "Lowercase": "Ll", "White_Space": "Z"}.get(plain, plain)
    ranges = "".join(_ranges(plain))
    if not ranges:
        raise ValueError(f"the property {name!r} of characters is not known")
    return ranges


def _ranges(category: str) -> Iterator[str]:
    start = None
    for code in range(sys.maxunicode + 2):
        inside = code <= sys.maxunicode and unicodedata.category(chr(code)).startswith(category)
        if inside and start is None:
            start = code
        elif not inside and start is not None:
            yield f"\\U{start:08x}-\\U{code - 1:08x}"
            start = None


@lru_cache(maxsize=512)
def like_pattern(pattern: str, escape: str | None) -> re.Pattern[str]:
    """Return the pattern of LIKE.

    Raises:
        ValueError: If the escape precedes a character other than ``%``, ``_`` or itself.
    """
    parts = []
    characters = iter(pattern)
    for character in characters:
        if character == escape:
            escaped = next(characters, None)
            if escaped is None or escaped not in ("%", "_", escape):
                raise ValueError(f"the escape {escape!r} of {pattern!r} must precede %, _ or itself")
            parts.append(re.escape(escaped))
        else:
            parts.append(".*" if character == "%" else "." if character == "_" else re.escape(character))
    return re.compile("".join(parts), re.DOTALL)


_CLASSES = {
    "[:ALPHA:]": r"a-zA-Z", "[:alpha:]": r"a-zA-Z", "[:UPPER:]": "A-Z", "[:upper:]": "A-Z", "[:LOWER:]": "a-z", "[:lower:]": "a-z",
    "[:DIGIT:]": "0-9", "[:digit:]": "0-9", "[:SPACE:]": " ", "[:space:]": " ", "[:WHITESPACE:]": r"\s", "[:whitespace:]": r"\s",
    "[:ALNUM:]": "a-zA-Z0-9", "[:alnum:]": "a-zA-Z0-9",
}  # fmt: skip


# As in Calcite: a point matches any character, like an underscore, but neither matches the end of a line.
_SIMILAR = {"%": "(?s:.*)", "_": _ANY, ".": _ANY, "\\": r"\\", "$": r"\$"}


@lru_cache(maxsize=512)
def similar_pattern(pattern: str, escape: str | None) -> re.Pattern[str]:
    """Return the pattern of SIMILAR TO.

    Raises:
        ValueError: If it is none.
    """
    parts: list[str] = []
    place, in_class = 0, False
    while place < len(pattern):
        character = pattern[place]
        posix = next((name for name in _CLASSES if pattern.startswith(name, place)), None)
        if character == escape:
            place += 1
            parts.append(re.escape(pattern[place : place + 1]))
        elif posix is not None:
            parts.append(_CLASSES[posix] if in_class else f"[{_CLASSES[posix]}]")
            place += len(posix) - 1
        elif character in "[]":
            in_class = character == "["
            parts.append(character)
        else:
            parts.append(character if in_class else _SIMILAR.get(character, character))
        place += 1
    try:
        return re.compile("".join(parts), re.ASCII)
    except re.error as error:
        raise ValueError(f"{pattern!r} is no pattern of SIMILAR TO: {error}") from error
