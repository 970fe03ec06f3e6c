r"""Internal. Regular expressions of Java that RE2 (whose kernels Arrow has) is known to read in the same way.

RE2 prefers the same match as Java (the leftmost; of these the first found by backtracking search), but has no look-around, references and
possessive quantifiers, and interprets some characters differently. So a pattern is parsed here by a subset of the grammar and rewritten
without ambiguous constructs; any other construct makes it unsuitable for RE2.

Excluded in addition, as the two differ: ``$``, ``\b`` and flags; repetition of a part that can match the empty string; requested groups
that may have no value, or several in turn.
"""

from __future__ import annotations

import string
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["GROUP", "LinearPattern", "linear_pattern"]

GROUP = "found"
"""The name of the requested group in a pattern of RE2."""

_LONGEST_REPEAT = 100
_LINE_ENDS = r"\n\r\x{85}\x{2028}\x{2029}"
_CLASSES = {"d": "0-9", "w": "A-Za-z0-9_", "s": r"\t\n\x{0b}\f\r\x{20}"}
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_HEX_DIGITS = {"x": 2, "u": 4}
_ANYTHING = "?s:.*)"


@dataclass(frozen=True)
class LinearPattern:
    """A pattern for RE2.

    Attributes:
        text: The pattern, with the requested group named :data:`GROUP`; all other groups are non-capturing.
        may_be_empty: It can match an empty string.
        anchored: It refers to the beginning of the string.
    """

    text: str
    may_be_empty: bool
    anchored: bool


@lru_cache(maxsize=512)
def linear_pattern(pattern: str, group: int | None = None) -> LinearPattern | None:
    """Return the pattern for RE2, None if it is not known to be equivalent.

    Args:
        pattern: A pattern of Java.
        group: The number of the requested group, 0 for the whole match; it has a value in every match.
    """
    scanner = _Scanner(pattern, group)
    try:
        text, empty = scanner.whole()
        text = f"(?P<{GROUP}>{text})" if group == 0 else text
        # Patterns too large for RE2 are detected here.
        pc.match_substring_regex(pa.array([""]), text)
    except (_UnknownError, pa.ArrowInvalid):
        return None
    return LinearPattern(text, empty, scanner.anchored)


class _UnknownError(Exception):
    """The pattern has a construct not known to be equivalent."""


class _Scanner:
    """Parses a pattern from left to right; methods return the text for RE2 and whether it can match the empty string."""

    def __init__(self, pattern: str, wanted: int | None) -> None:
        self._pattern = pattern
        self._wanted = wanted
        self._place = 0
        self._groups = 0
        self.anchored = False

    def whole(self) -> tuple[str, bool]:
        found = self._alternatives()
        if self._next() or (self._wanted is not None and not 0 <= self._wanted <= self._groups):
            raise _UnknownError
        return found

    def _next(self) -> str:
        return self._pattern[self._place : self._place + 1]

    def _taken(self, text: str) -> bool:
        found = self._pattern.startswith(text, self._place)
        self._place += len(text) if found else 0
        return found

    def _one(self) -> str:
        character = self._next()
        if not character or character == "\0":
            raise _UnknownError
        self._place += 1
        return character

    def _refuse_wanted_since(self, groups: int) -> None:
        """Reject a part that contains the requested group, as it may have no value there, or several in turn."""
        if self._wanted and groups < self._wanted <= self._groups:
            raise _UnknownError

    def _alternatives(self) -> tuple[str, bool]:
        before = self._groups
        branches = [self._sequence()]
        while self._taken("|"):
            branches.append(self._sequence())
        if len(branches) > 1:
            self._refuse_wanted_since(before)
        return "|".join(text for text, _ in branches), any(empty for _, empty in branches)

    def _sequence(self) -> tuple[str, bool]:
        parts = []
        while self._next() not in ("", "|", ")"):
            parts.append(self._repeated())
        return "".join(text for text, _ in parts), all(empty for _, empty in parts)

    def _repeated(self) -> tuple[str, bool]:
        before = self._groups
        text, empty = self._atom()
        quantifier = self._quantifier()
        if not quantifier:
            return text, empty
        if empty:
            raise _UnknownError
        self._refuse_wanted_since(before)
        return text + quantifier, quantifier.startswith(("*", "?", "{0"))

    def _quantifier(self) -> str:
        written = next((sign for sign in "*+?" if self._taken(sign)), "")
        if self._taken("{"):
            written = self._bounds()
        if written and self._taken("?"):
            written += "?"
        if written and self._next() in ("*", "+", "?", "{"):
            raise _UnknownError
        return written

    def _bounds(self) -> str:
        least = most = self._number()
        if self._taken(","):
            most = _LONGEST_REPEAT if self._next() == "}" else self._number()
        if most < least or not most or not self._taken("}"):
            raise _UnknownError
        return self._pattern[self._pattern.rindex("{", 0, self._place) : self._place]

    def _number(self) -> int:
        digits = ""
        while self._next() and self._next() in "0123456789":
            digits += self._one()
        if not digits or int(digits) > _LONGEST_REPEAT:
            raise _UnknownError
        return int(digits)

    def _atom(self) -> tuple[str, bool]:
        character = self._one()
        if character == "(":
            return self._group()
        if character == "[":
            return self._class(), False
        if character == "\\":
            return self._escape(), False
        if character == ".":
            return f"[^{_LINE_ENDS}]", False
        if character == "^":
            self.anchored = True
            return "^", True
        if character in "$*+?{":
            raise _UnknownError
        return _literal(character), False

    def _group(self) -> tuple[str, bool]:
        if self._taken(_ANYTHING):
            return f"({_ANYTHING}", True
        number = None
        if not self._taken("?:"):
            self._groups += 1
            number = self._groups
        text, empty = self._alternatives()  # which rejects other constructs that begin with a question mark
        if not self._taken(")"):
            raise _UnknownError
        return f"(?P<{GROUP}>{text})" if number == (self._wanted or -1) else f"(?:{text})", empty

    def _escape(self) -> str:
        letter = self._one()
        if letter in ("d", "w", "s", "D", "W", "S"):
            return f"[{'^' if letter.isupper() else ''}{_CLASSES[letter.lower()]}]"
        return _literal(self._escaped(letter))

    def _escaped(self, letter: str) -> str:
        if letter in _HEX_DIGITS:
            digits = "".join(self._one() for _ in range(_HEX_DIGITS[letter]))
            if not set(digits) <= set(string.hexdigits) or 0xD800 <= int(digits, 16) < 0xE000:
                raise _UnknownError
            return chr(int(digits, 16))
        if letter in _CONTROLS:
            return _CONTROLS[letter]
        if letter.isalnum() or not letter.isascii():
            raise _UnknownError
        return letter

    def _class(self) -> str:
        negated = "^" if self._taken("^") else ""
        if self._next() == "]":
            raise _UnknownError
        parts = [self._in_class(first=True)]
        while not self._taken("]"):
            parts.append(self._in_class(first=False))
        return f"[{negated}{''.join(parts)}]"

    def _in_class(self, first: bool) -> str:
        character = self._one()
        if character == "[" or (character == "&" and self._next() == "&"):
            raise _UnknownError
        if character == "-" and not first and self._next() != "]":
            raise _UnknownError
        if character == "\\":
            letter = self._one()
            if letter in _CLASSES:
                return _CLASSES[letter]
            character = self._escaped(letter)
        if self._next() != "-" or self._pattern.startswith("-]", self._place):
            return _literal(character)
        self._place += 1
        return f"{_literal(character)}-{_literal(self._range_end(character))}"

    def _range_end(self, begin: str) -> str:
        end = self._one()
        if end in "[]&-":
            raise _UnknownError
        end = self._escaped(self._one()) if end == "\\" else end
        if end < begin:
            raise _UnknownError
        return end


def _literal(character: str) -> str:
    """Return the escaped form of a character, in a class and outside of one."""
    return character if character.isalnum() or not character.isascii() else f"\\x{{{ord(character):x}}}"
