"""Internal. Aggregates in two phases: each task aggregates its rows, and what that comes to is sent to the tasks of the keys.

As each task does so for the rows that come together, which are thousands, nothing has to wait for it: so it is done wherever it can be,
where Flink does it for groups only by mini-batches. Left alone are aggregates that need all rows: functions of users, and MIN, MAX and
DISTINCT of groups whose rows may be taken back.
"""

from __future__ import annotations

from dataclasses import replace

from wiesel.core.errors import ConfigurationError
from wiesel.runtime.table.partials import Partials
from wiesel.sql.bound_calls import calls_of_groups
from wiesel.sql.plan import Aggregate, Relation
from wiesel.sql.rules.options import Options
from wiesel.sql.window_plan import WindowAggregate

__all__ = ["PHASES", "in_two_phases"]

PHASES = "table.optimizer.agg-phase-strategy"
"""``AUTO``, ``ONE_PHASE`` or ``TWO_PHASE``."""

_STRATEGIES = ("AUTO", "ONE_PHASE", "TWO_PHASE")


def in_two_phases(relation: Relation, options: Options) -> Relation:
    """Return a relation with its aggregates in two phases where that can be.

    Raises:
        ConfigurationError: If the option has another value than there are.
    """
    strategy = options.get_string(PHASES, "AUTO").strip().upper()
    if strategy not in _STRATEGIES:
        raise ConfigurationError(f"option {PHASES}: {strategy!r}", hint=f"write one of {', '.join(_STRATEGIES)}", key=PHASES)
    return relation if strategy == "ONE_PHASE" else _changed(relation)


def _changed(relation: Relation) -> Relation:
    if relation.inputs:
        relation = relation.with_inputs(*map(_changed, relation.inputs))
    if isinstance(relation, Aggregate) and Partials(calls_of_groups(relation)).complete:
        return replace(relation, phases=replace(relation.phases, local=True))
    if isinstance(relation, WindowAggregate) and not (relation.by_clock and relation.window.kind == "SESSION"):
        return replace(relation, phases=replace(relation.phases, local=True))
    return relation
