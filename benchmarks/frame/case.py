"""What a benchmark is made of: cases, the runs side by side in them, and the targets they are held against."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

WIESEL = "wiesel"
PYFLINK = "pyflink"
SPARK = "spark"

Result = Mapping[str, Any]


class CheckFailed(Exception):
    """A run's output is not what it has to be, so none of its figures counts."""


@dataclass(frozen=True)
class Scale:
    """How much work the runs do; ``quick`` is for a look, not for figures to publish."""

    quick: bool

    def records(self, full: int, quick: int) -> int:
        return quick if self.quick else full


@dataclass(frozen=True)
class Run:
    """One contender of a case.

    Attributes:
        label: Its name in the table, unique within the case.
        engine: Who runs it.
        program: Path of the program below ``benchmarks``.
        arguments: The program's own options. A function is called when the run starts; ``{folder}`` stands for a folder of the
            run's own.
        conf: Options of the engine, with ``{folder}`` likewise.
        expected: Figures of the result and the values they must have: the check without which no figure counts.
        check: A further check of the whole result; raises CheckFailed.
        timeout_s: After this the run has failed.
        once: Run once even when the others are repeated (a peer that takes many minutes).
    """

    label: str
    engine: str
    program: str
    arguments: Mapping[str, Any]
    expected: Mapping[str, Any]
    conf: Mapping[str, Any] = field(default_factory=dict)
    check: Callable[[Result], None] | None = None
    timeout_s: float = 900.0
    once: bool = False

    def verify(self, result: Result) -> None:
        """Raise CheckFailed unless the output is right."""
        for name, value in self.expected.items():
            if result.get(name) != value:
                raise CheckFailed(f"{name} is {result.get(name)!r} and must be {value!r}")
        if self.check is not None:
            self.check(result)


@dataclass(frozen=True)
class Target:
    """A bound on a figure of one run, or on the ratio of two runs' figures.

    Attributes:
        text: What is asked for, for the table.
        figure: Name of the figure in the results.
        of: Label of the run (numerator).
        against: Label of the run it is divided by, or None for the figure itself.
        at_least: Lower bound of the value.
        at_most: Upper bound of the value.
    """

    text: str
    figure: str
    of: str
    against: str | None = None
    at_least: float | None = None
    at_most: float | None = None

    def value(self, figures: Mapping[str, Result]) -> float | None:
        """Return the figure or ratio, or None when a run it needs has no result."""
        top = figures.get(self.of, {}).get(self.figure)
        if top is None or self.against is None:
            return top
        bottom = figures.get(self.against, {}).get(self.figure)
        return top / bottom if bottom else None

    def met(self, value: float | None) -> bool | None:
        """Return whether the bound holds, None when it cannot be told or none is set."""
        if value is None or (self.at_least is None and self.at_most is None):
            return None
        return (self.at_least is None or value >= self.at_least) and (self.at_most is None or value <= self.at_most)


@dataclass(frozen=True)
class Order:
    """An order to be printed: some runs by one figure, the largest first.

    Attributes:
        text: What is ordered.
        figure: Name of the figure.
        of: Labels of the runs.
    """

    text: str
    figure: str
    of: tuple[str, ...]

    def told(self, figures: Mapping[str, Result]) -> str:
        """Return the labels in order, with how far each is behind the first; those without a figure are left out."""
        found = sorted(((figures[label][self.figure], label) for label in self.of if figures.get(label, {}).get(self.figure)), reverse=True)
        return " > ".join(label if value == found[0][0] else f"{label} ({value / found[0][0]:.2f})" for value, label in found)


@dataclass(frozen=True)
class Case:
    """A benchmark: runs that do the same work, one after the other, in turns.

    Attributes:
        name: Name on the command line.
        title: What is measured.
        runs: The contenders.
        targets: What they are held against.
        figures: Names of the figures the table shows, in this order.
        orders: Orders of runs that are printed below.
    """

    name: str
    title: str
    runs: tuple[Run, ...]
    targets: tuple[Target, ...] = ()
    figures: tuple[str, ...] = ("rate",)
    orders: tuple[Order, ...] = ()
