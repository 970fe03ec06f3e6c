"""Internal. Groups change by mini-batches: rows wait for each other, so that a group changes, and says so, once for many of them.

A separate rule decides which first rows are replaced by earlier ones; it runs before those that depend on retraction.
"""

from __future__ import annotations

from dataclasses import replace

from wiesel.core.durations import to_millis
from wiesel.core.errors import ConfigurationError
from wiesel.runtime.table.mini_batch import MiniBatch
from wiesel.sql.plan.relations import Aggregate, Filter, Project, Relation, TopN, Union
from wiesel.sql.rules.options import Options, is_on

__all__ = ["ALLOW_LATENCY", "ENABLED", "SIZE", "by_mini_batches", "with_first_rows_at_once"]

ENABLED = "table.exec.mini-batch.enabled"
ALLOW_LATENCY = "table.exec.mini-batch.allow-latency"
SIZE = "table.exec.mini-batch.size"

_READ_CHANGES = (Aggregate, Filter, Project, TopN, Union)
"""Relations allowed above a first row that is replaced by an earlier one; others are bound to a final first row."""


def by_mini_batches(relation: Relation, options: Options) -> Relation:
    """Return a relation whose groups change by mini-batches, if the options say so.

    Raises:
        ConfigurationError: If they say so and not how long or how many rows wait.
    """
    return _changed(relation, _mini_batch(options)) if is_on(options, ENABLED) else relation


def _mini_batch(options: Options) -> MiniBatch:
    latency_ms, size = to_millis(options.get_string(ALLOW_LATENCY, "0 ms")), options.get_string(SIZE, "-1").strip()
    hint = f"set {ALLOW_LATENCY} and {SIZE}, for example to '2 s' and '5000'"
    if latency_ms <= 0:
        raise ConfigurationError(f"option {ALLOW_LATENCY} must be more than 0 where {ENABLED} is true", hint=hint, key=ALLOW_LATENCY)
    if not size.isdecimal() or int(size) < 1:
        raise ConfigurationError(f"option {SIZE} must be a number above 0 where {ENABLED} is true", hint=hint, key=SIZE)
    return MiniBatch(latency_ms, int(size))


def _changed(relation: Relation, mini_batch: MiniBatch) -> Relation:
    if relation.inputs:
        relation = relation.with_inputs(*(_changed(below, mini_batch) for below in relation.inputs))
    if isinstance(relation, Aggregate):
        return replace(relation, phases=replace(relation.phases, mini_batch=mini_batch))
    return relation


def with_first_rows_at_once(relation: Relation, options: Options) -> Relation:
    """Return a relation whose first rows by event time come at once and are replaced by earlier ones, if there are mini-batches."""
    return _revising(relation, may_revise=True) if is_on(options, ENABLED) else relation


def _revising(relation: Relation, *, may_revise: bool) -> Relation:
    may_revise = may_revise and isinstance(relation, _READ_CHANGES)
    if relation.inputs:
        relation = relation.with_inputs(*(_revising(below, may_revise=may_revise) for below in relation.inputs))
    if isinstance(relation, TopN) and may_revise and relation.waits_for_watermark:
        return replace(relation, revises=True)
    return relation
