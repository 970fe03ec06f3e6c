"""Random regular expressions of the part of Java's grammar that kernels of Arrow compute, and random texts for them."""

from __future__ import annotations

import random

LETTERS = (*"abcB12_-&/ éß😀", "\n", "\r", "\t", "\x0b", "\x85", "\u2028", "\x00", "\u0661")
"""With ends of lines and digits that only some engines take for such, and characters of one to four bytes."""

_ATOMS = (*"abc1-&/é😀.", r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", r"\.", r"\-", r"\t", r"\n", r"\x62", r"\u00e9")
_CLASSES = ("[ab]", "[^a]", "[a-c1]", "[^&/]", r"[\d_]", r"[^\s]", r"[\w-]", "[é-ü]", r"[^\n]", "[&-/]", "[^a-c😀]", r"[\-a]", "[ a^]")
_QUANTIFIERS = ("*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,2}", "{1,}", "{1,3}?", "{2,}?")


def pattern(rng: random.Random, depth: int = 3) -> str:
    """Return a regular expression."""
    branches = [_sequence(rng, depth) for _ in range(rng.choice((1, 1, 1, 2, 3)))]
    return "|".join(branches)


def _sequence(rng: random.Random, depth: int) -> str:
    return "".join(_part(rng, depth) for _ in range(rng.choice((0, 1, 1, 2, 2, 3))))


def _part(rng: random.Random, depth: int) -> str:
    kind = rng.random()
    if kind < 0.06:
        return "^"
    if depth and kind < 0.35:
        atom = rng.choice(("(", "(", "(?:")) + pattern(rng, depth - 1) + ")"
    else:
        atom = rng.choice(_ATOMS) if kind < 0.8 else rng.choice(_CLASSES)
    return atom + (rng.choice(_QUANTIFIERS) if rng.random() < 0.3 else "")


def texts(rng: random.Random, count: int) -> list[str]:
    """Return texts; half of them of few letters, as these match more often."""
    return ["".join(rng.choices(LETTERS[:4] if rng.random() < 0.5 else LETTERS, k=rng.randrange(9))) for _ in range(count)]
