"""The choices by which something random is made: drawn from a seed, or played again, so that what fails can be made smaller."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """Numbers below a bound, one after another. The lower a number, the simpler what is made of it; after the last one all are 0."""

    def __init__(self, seed: int = 0, given: Sequence[int] | None = None) -> None:
        self._random = Random(seed)
        self._given = None if given is None else list(given)
        self.made: list[int] = []

    def below(self, bound: int) -> int:
        """Return the next number, at least 0 and less than the bound."""
        if self._given is None:
            number = self._random.randrange(bound)
        else:
            place = len(self.made)
            number = min(self._given[place], bound - 1) if place < len(self._given) else 0
        self.made.append(number)
        return number

    def of(self, items: Sequence[T]) -> T:
        """Return one of several."""
        return items[self.below(len(items))]

    def chance(self, percent: int) -> bool:
        """Return whether something that happens in so many of 100 cases does."""
        return self.below(100) >= 100 - percent


def shrunk(made: Sequence[int], fails: Callable[[list[int]], bool], tries: int = 300) -> list[int]:
    """Return fewer or lower choices that still fail: parts are left out, then numbers made lower, as long as that helps."""
    best, left = list(made), tries
    while True:
        before = list(best)
        size = max(1, len(best) // 2)
        while size >= 1:
            place = 0
            while place < len(best):
                before_it, behind = best[:place], best[place + size :]
                for shorter in (before_it + behind, [*before_it, *[0] * (len(best) - len(before_it) - len(behind)), *behind]):
                    if left <= 0:
                        return best
                    if (len(shorter), shorter) < (len(best), best):
                        left -= 1
                        if fails(shorter):
                            best = shorter
                            break
                else:
                    place += size
            size //= 2
        if best == before:
            return best
