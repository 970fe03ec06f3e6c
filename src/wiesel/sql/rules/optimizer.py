"""Internal. Applies the rules to the plans of a job, in their order."""

from __future__ import annotations

from collections.abc import Sequence

from wiesel.columnar.evaluation import Session
from wiesel.core.options import CHANGELOG_PER_RECORD
from wiesel.sql.costs.estimator import REPORTED, Estimator
from wiesel.sql.plan.keys_without_order import check_keys
from wiesel.sql.plan.relations import Relation
from wiesel.sql.rules.file_aggregates import AGGREGATES, with_known_aggregates
from wiesel.sql.rules.join_strategies import THRESHOLD, with_strategies
from wiesel.sql.rules.limits import with_limits
from wiesel.sql.rules.merge import merged
from wiesel.sql.rules.mini_batches import by_mini_batches, with_first_rows_at_once
from wiesel.sql.rules.nested import with_parts_of_rows
from wiesel.sql.rules.options import Options, is_on, number_of
from wiesel.sql.rules.outer_joins import with_inner_joins
from wiesel.sql.rules.prune import pruned
from wiesel.sql.rules.reorder import BUSHY, REORDERS, reordered
from wiesel.sql.rules.scan_filters import with_scan_filters
from wiesel.sql.rules.share import shared
from wiesel.sql.rules.simplify import simplified
from wiesel.sql.rules.split_distinct import with_split_distinct
from wiesel.sql.rules.two_phases import in_two_phases
from wiesel.sql.rules.updated_tops import with_updated_tops
from wiesel.sql.rules.watermarks import filtered_below_watermarks

__all__ = ["REUSE", "Options", "estimator_of", "is_batch", "optimized"]

REUSE = "table.optimizer.reuse-sub-plan-enabled"
"""Reuse common sub-plans (``true`` by default, as in Flink)."""


def optimized(roots: Sequence[Relation], options: Options) -> list[Relation]:
    """Return the plans of one job, with the same fields, results and kinds of changes, as they are run.

    Raises:
        ProgramError: If rows are grouped, sorted or told apart by values that cannot be.
    """
    for root in roots:
        check_keys(root)
    zone = options.get_string("table.local-time-zone", "default")
    session = Session(time_zone="UTC" if zone == "default" else zone)
    in_batch, estimator = is_batch(options), estimator_of(options)
    found = [merged(with_inner_joins(merged(simplified(root, session)))) for root in roots]
    if in_batch:
        found = [filtered_below_watermarks(root) for root in found]
        if is_on(options, REORDERS):
            most = number_of(options, BUSHY, 12)
            found = [merged(reordered(root, estimator, most)) for root in found]
    found = [merged(root) for root in pruned(found)]
    if in_batch and is_on(options, AGGREGATES, "true"):
        found = [with_known_aggregates(root) for root in found]
    found = with_limits(with_scan_filters(with_parts_of_rows(found)))
    if in_batch:
        threshold = number_of(options, THRESHOLD, 1 << 20)
        found = [with_strategies(root, estimator, threshold) for root in found]
    if not in_batch and is_on(options, CHANGELOG_PER_RECORD.key):
        found = [with_updated_tops(root) for root in found]
    else:
        for rule in (with_first_rows_at_once, in_two_phases, with_split_distinct, by_mini_batches):
            found = [rule(root, options) for root in found]
    return shared(found) if is_on(options, REUSE, "true") else found


def is_batch(options: Options) -> bool:
    """Return whether a job returns its last results only."""
    return options.get_string("execution.runtime-mode", "STREAMING").strip().upper() == "BATCH"


def estimator_of(options: Options) -> Estimator:
    """Return what estimates relations."""
    return Estimator(asks_connectors=is_on(options, REPORTED, "true"))
