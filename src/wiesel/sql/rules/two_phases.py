"""Internal. Aggregates in two phases: each task aggregates its rows, and what that comes to is sent to the tasks of the keys.

As each task does so for the rows that come together, which are thousands, nothing has to wait for it: so it is done wherever it can be,
where Flink does it for groups only by mini-batches. Left alone are aggregates that need all rows: functions of users, and MIN, MAX and
DISTINCT of groups whose rows may be retracted. ``AUTO`` lets a task that finds nearly as many keys as rows send rows as they are
(:mod:`wiesel.runtime.table.aggregate.sampling`).
"""

from __future__ import annotations

from dataclasses import replace

from wiesel.core.errors import ConfigurationError
from wiesel.runtime.table.aggregate.partials import Partials
from wiesel.runtime.table.aggregate.sampling import Sampling
from wiesel.sql.plan.bound_calls import calls_of_groups
from wiesel.sql.plan.relations import Aggregate, Phases, Relation
from wiesel.sql.plan.window_relations import WindowAggregate
from wiesel.sql.rules.options import Options, is_on, number_of

__all__ = ["ADAPTIVE", "PHASES", "RATE", "SAMPLED", "in_two_phases"]

PHASES = "table.optimizer.agg-phase-strategy"
"""``AUTO``, ``ONE_PHASE`` or ``TWO_PHASE``."""

ADAPTIVE = "table.exec.local-hash-agg.adaptive.enabled"
SAMPLED = "table.exec.local-hash-agg.adaptive.sampling-threshold"
RATE = "table.exec.local-hash-agg.adaptive.distinct-value-rate-threshold"

_STRATEGIES = ("AUTO", "ONE_PHASE", "TWO_PHASE")


def in_two_phases(relation: Relation, options: Options) -> Relation:
    """Return a relation with its aggregates in two phases where that can be.

    Raises:
        ConfigurationError: If an option has another value than there are.
    """
    strategy = options.get_string(PHASES, "AUTO").strip().upper()
    if strategy not in _STRATEGIES:
        raise ConfigurationError(f"option {PHASES}: {strategy!r}", hint=f"write one of {', '.join(_STRATEGIES)}", key=PHASES)
    if strategy == "ONE_PHASE":
        return relation
    phases = Phases(local=True, sampling=_sampling(options) if strategy == "AUTO" and is_on(options, ADAPTIVE, "true") else None)
    return _changed(relation, phases)


def _sampling(options: Options) -> Sampling:
    text = options.get_string(RATE, "0.5").strip()
    try:
        rate = float(text)
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 1:
        raise ConfigurationError(f"option {RATE} is {text!r}", hint="write a number from 0 to 1, such as 0.5", key=RATE)
    return Sampling(number_of(options, SAMPLED, 500_000), rate)


def _changed(relation: Relation, phases: Phases) -> Relation:
    if relation.inputs:
        relation = relation.with_inputs(*(_changed(below, phases) for below in relation.inputs))
    if isinstance(relation, Aggregate) and Partials(calls_of_groups(relation)).complete:
        return replace(relation, phases=phases)
    if isinstance(relation, WindowAggregate) and not (relation.by_clock and relation.window.kind == "SESSION"):
        return replace(relation, phases=phases)
    return relation
