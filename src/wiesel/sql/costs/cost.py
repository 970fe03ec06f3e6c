"""Internal. Costs of relations, in Flink's five measures (``FlinkCost``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import Any

from wiesel.sql.costs.estimates import Estimate
from wiesel.sql.costs.estimator import Estimator
from wiesel.sql.plan.relations import Relation, walk

__all__ = ["Cost", "cost_of"]


@dataclass(frozen=True)
class Cost:
    """The cost of a relation.

    Attributes:
        rows: Rows that come out of operators.
        cpu: Rows that operators look at.
        io: Bytes that are read from tables.
        network: Bytes that go from one task to another.
        memory: Bytes that operators keep.
    """

    rows: float = 0.0
    cpu: float = 0.0
    io: float = 0.0
    network: float = 0.0
    memory: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(*(one + more for one, more in zip(astuple(self), astuple(other), strict=True)))

    def __str__(self) -> str:
        measures = zip(astuple(self), ("rows", "cpu", "io", "network", "memory"), strict=True)
        return f"{{{', '.join(f'{shown(value)} {name}' for value, name in measures)}}}"


def cost_of(relation: Relation, estimator: Estimator) -> Cost:
    """Return what it costs to compute a relation and all below it; what is read at several places is computed once."""
    each = {id(below): below for below in walk(relation)}
    return sum((_own(below, estimator) for below in each.values()), Cost())


def _own(relation: Relation, estimator: Estimator) -> Cost:
    made, read = estimator.of(relation), [estimator.of(below) for below in relation.inputs]
    return _RULES.get(relation.name, _passing)(made, read)


def _passing(made: Estimate, read: list[Estimate]) -> Cost:
    return Cost(rows=made.rows, cpu=sum(each.rows for each in read))


def _scanning(made: Estimate, read: list[Estimate]) -> Cost:
    return Cost(rows=made.rows, io=made.bytes)


def _keeping_results(made: Estimate, read: list[Estimate]) -> Cost:
    sent = sum(each.bytes for each in read)
    return Cost(rows=made.rows, cpu=sum(each.rows for each in read), network=sent, memory=made.bytes)


def _keeping_inputs(made: Estimate, read: list[Estimate]) -> Cost:
    sent = sum(each.bytes for each in read)
    return Cost(rows=made.rows, cpu=sum(each.rows for each in read), network=sent, memory=sent)


_RULES: dict[str, Callable[[Estimate, list[Estimate]], Cost]] = {
    "TableScan": _scanning,
    "Aggregate": _keeping_results,
    "TableAggregate": _keeping_results,
    "WindowAggregate": _keeping_results,
    "TopN": _keeping_results,
    "OverAggregate": _keeping_inputs,
    "CountWindowAggregate": _keeping_inputs,
    "Join": _keeping_inputs,
    "TemporalJoin": _keeping_inputs,
    "Match": _keeping_inputs,
}


def shown(value: Any) -> str:
    """Return a number as Flink's plans have it: ``1.0E8`` from ten millions on.

    >>> shown(1e8), shown(30.0)
    ('1.0E8', '30.0')
    """
    if value < 1e7:  # noqa: PLR2004 - from here on Java writes an exponent
        return repr(round(float(value), 4))
    digits, _, exponent = f"{value:.15e}".partition("e")
    digits = digits.rstrip("0")
    return f"{digits}{'0' if digits.endswith('.') else ''}E{int(exponent)}"
