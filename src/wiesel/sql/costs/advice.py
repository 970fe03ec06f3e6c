"""Internal. Advice on improving a plan, by estimates: for EXPLAIN PLAN_ADVICE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wiesel.sql.costs.cost import shown
from wiesel.sql.costs.estimator import Estimator
from wiesel.sql.plan.equations import equi_keys
from wiesel.sql.plan.relations import Join, JoinType, Relation, TableScan, walk
from wiesel.sql.rules.optimizer import is_batch
from wiesel.sql.rules.options import Options, number_of
from wiesel.sql.rules.reorder import BUSHY, REORDERS, reordered

__all__ = ["plan_advice"]


def plan_advice(plans: Sequence[Relation], options: Options, estimator: Estimator) -> list[str]:
    """Return what is advised about the plans of a job, each advice once."""
    found = [line for plan in plans for relation in walk(plan) for line in _of_join(relation, estimator)]
    if is_batch(options):
        found += [line for plan in plans for line in _of_order(plan, options, estimator)]
    return list(dict.fromkeys(found))


def _of_join(relation: Relation, estimator: Estimator) -> Iterator[str]:
    if isinstance(relation, Join) and not equi_keys(relation.condition, len(relation.left.fields)).left:
        rows = [estimator.of(each).rows for each in relation.inputs]
        yield (
            f"A Join has no equation between its sides: in one task it compares all pairs of {shown(rows[0])} and {shown(rows[1])} rows. "
            "Add a condition a = b if there is one."
        )


def _of_order(plan: Relation, options: Options, estimator: Estimator) -> Iterator[str]:
    joins = [each for each in walk(plan) if isinstance(each, Join) and each.type is JoinType.INNER]
    if len(joins) < 2:  # noqa: PLR2004 - one join has one order
        return
    for scan in (each for each in walk(plan) if isinstance(each, TableScan)):
        if not estimator.of(scan).known:
            yield f"Nothing is known of the rows of {scan.identifier}: ANALYZE TABLE, so that the order of joins can be chosen."
    if options.get_string(REORDERS, "false").strip().lower() == "true":
        return
    better = reordered(plan, estimator, number_of(options, BUSHY, 12))
    before, after = (sum(estimator.of(each).rows for each in walk(root) if isinstance(each, Join)) for root in (plan, better))
    if after < before:
        rows = f"{shown(before)} rows together, and {shown(after)} in another order"
        yield f"Joins return {rows}: set '{REORDERS}' = 'true' to have them in it."
