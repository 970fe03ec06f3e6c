"""Internal. Hive's ``sentences``: strings split into sentences, and these into words, like ``java.text.BreakIterator``.

Source: Hive's ``GenericUDFSentences``, which uses Java 17's break iterator and keeps tokens that begin with a letter or a digit. The break
positions were determined by experiments with Java. Characters are classified, one letter per class; words are matched by patterns over
these letters, sentences by a state machine over them.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Any

from wiesel.columnar.functions.kernels import by_value
from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, register
from wiesel.columnar.functions.signatures import TEXT
from wiesel.columnar.type_rules import STRING
from wiesel.types import logical as t

__all__ = ["sentences"]

_IGNORED = ("Mn", "Me", "Cf")

# Words

_MARKS = {
    **dict.fromkeys(".", "p"),
    **dict.fromkeys("'\"", "q"),
    **dict.fromkeys(",\u066b", "n"),
    **dict.fromkeys("\u00ad\u2027", "d"),
    **dict.fromkeys("\u0964\u0965", "a"),
    **dict.fromkeys("\u00a2%&\u066a\u2030\u2031", "%"),
    **dict.fromkeys("#", "$"),
    **dict.fromkeys("\n\f\u2028\u2029", "\n"),
    **dict.fromkeys("\r", "\r"),
    **dict.fromkeys("\t", " "),
    **dict.fromkeys("\u3005", "k"),
    **dict.fromkeys("\u30fc", "e"),
    **dict.fromkeys("\u3099\u309a\u309b\u309c", "m"),
}
_SCRIPTS = (("\u4e00", "\u9fa5", "k"), ("\uf900", "\ufa2d", "k"), ("\u30a1", "\u30fa", "c"), ("\u3041", "\u3094", "h"))
_CATEGORIES = {**dict.fromkeys(_IGNORED, "i"), "Mc": "L", "Pd": "d", "Pc": "d", "Sc": "$", "Zs": " "}


@lru_cache(maxsize=4096)
def _word_kind(character: str) -> str:
    script = next((kind for first, last, kind in _SCRIPTS if first <= character <= last), None)
    category = unicodedata.category(character)
    by_category = _CATEGORIES.get(category) or {"L": "L", "N": "D"}.get(category[0], "o")
    return _MARKS.get(character) or script or by_category


_LETTERS, _DIGITS = "L[Li]*", "D[Di]*"
_WORD = rf"{_LETTERS}(?:[dpq]{_LETTERS})*a?i*"
_NUMBER = rf"{_DIGITS}(?:[pqn]{_DIGITS})*"
_MIXED = rf"(?:{_NUMBER}{_WORD})*(?:{_NUMBER}%?)?i*"
_TOKENS = [re.compile(each) for each in (rf"(?:{_WORD})?{_MIXED}", rf"[$p]i*{_MIXED}", r" *\r?\n?", "k+i*", "[hme]+i*", "[cme]+i*", ".i*")]


def _words(sentence: str) -> list[str]:
    kinds, at = "".join(map(_word_kind, sentence)), 0
    found = []
    while at < len(sentence):
        end = max([at + 1, *(match.end() for token in _TOKENS if (match := token.match(kinds, at)))])
        if unicodedata.category(sentence[at])[0] == "L" or unicodedata.category(sentence[at]) == "Nd":
            found.append(sentence[at:end])
        at = end
    return found


# Sentences

_ENDS = {
    **dict.fromkeys("!?\u3002\uff01\uff1f", "t"),
    **dict.fromkeys("\u0964\u0965", "a"),
    **dict.fromkeys(".\uff0e", "p"),
    **dict.fromkeys("\t\r\f\n\u2028", " "),
    **dict.fromkeys("\"'", "q"),
    "\u2029": "P",
}
_OF_CATEGORIES = {
    **dict.fromkeys(_IGNORED, "i"),
    **dict.fromkeys(("Lu", "Lt", "Lo", "Lm"), "U"),
    **dict.fromkeys(("Ps", "Pi"), "o"),
    **dict.fromkeys(("Pe", "Pf"), "c"),
    **dict.fromkeys(("Nd", "Nl", "No"), "D"),
    "Ll": "l",
    "Zs": " ",
}


@lru_cache(maxsize=4096)
def _end_kind(character: str) -> str:
    return _ENDS.get(character) or _OF_CATEGORIES.get(unicodedata.category(character), "x")


_BEGINS, _CUTS, _FAILS = "begins", "cuts", "fails"
_STEPS: dict[str, tuple[tuple[str, str], ...]] = {
    "inside": (("t", "ended"), ("a", "behind"), ("p", "dotted"), ("*", "inside")),
    "dotted": (("t", "ended"), ("pqc", "dotted"), (" ", "spaced"), ("lUD", "inside"), ("*", "unsure")),
    "spaced": ((" ", "spaced far"), ("Dl", "inside"), ("U", _CUTS), ("qo", "opened"), ("t", "ended"), ("*", "unsure")),
    "spaced far": ((" ", "spaced far"), ("D", "inside"), ("Ul", _CUTS), ("qo", "opened"), ("t", "ended"), ("*", _FAILS)),
    "opened": (("qo", "opened"), ("lU", _BEGINS), ("D", "inside"), ("*", "unsure")),
    "unsure": (("t", "ended"), ("p", "dotted"), ("U", _CUTS), ("lD ", "inside"), ("*", "unsure")),
    "ended": (("tpqc", "ended"), (" ", "behind"), ("*", _CUTS)),
    "behind": ((" ", "behind"), ("*", _CUTS)),
}
"""Transitions by state: classes of characters -> next state, or out. ``opened`` is a quotation that begins the next sentence if a letter
follows; ``unsure`` or a failure is no end, and Java resumes from the last ``inside`` position."""


def _next_state(state: str, kind: str) -> str:
    return next(then for kinds, then in _STEPS[state] if kind in kinds or kinds == "*")


def _end(kinds: str, start: int) -> int:
    """Return the end of the sentence that begins at an index."""
    state, sure, opened = "inside", start, start
    for at in range(start, len(kinds)):
        if kinds[at] == "P":
            return at + 1
        before, state = state, _next_state(state, kinds[at])
        if state == _CUTS:
            return at
        if state == _BEGINS:
            return opened
        if state == _FAILS:
            return max(sure, start + 1)
        if state == "inside":
            sure = at + 1
        if state == "opened" and before != "opened":
            opened = at
    return max(sure, start + 1) if state in ("unsure", "opened") else len(kinds)


def sentences(text: str) -> list[list[str]]:
    """Return the sentences of a string, each as a list of words."""
    every = [_end_kind(character) for character in text]
    places = [place for place, kind in enumerate(every) if kind != "i"]
    kinds, starts = "".join(every[place] for place in places), [*places, len(text)]
    found, at, begin = [], 0, 0
    while at < len(kinds):
        at = _end(kinds, at)
        found.append(_words(text[begin : starts[at]]))
        begin = starts[at]
    return found if kinds or not text else [_words(text)]


def _resolve(arguments: Arguments) -> Signature:
    types = arguments.types
    if not 1 <= len(types) <= 3 or any(TEXT.fit(of) is None for of in types):
        raise arguments.refuse("sentences(<CHARACTER>[, <LANGUAGE>[, <COUNTRY>]])")
    result = t.ArrayType(t.ArrayType(STRING))
    return Signature(types, result if types[0].is_nullable else result.not_null())


def _cut(text: str | None, *place: Any) -> list[list[str]] | None:
    """Split a string by Java's rules for all languages except Thai, which needs a dictionary."""
    if text is None:
        return None
    if place and place[0] is not None and place[0].lower() == "th":
        raise ValueError("splitting Thai text needs a dictionary, which is not available")
    return sentences(text)


register(ScalarFunction("hive.SENTENCES", _resolve, by_value(_cut, nulls=True), may_fail=True))
