"""Internal. In batch mode: which joins keep one side only, and which one.

Such a join sends the side that it keeps to all tasks (``BROADCAST``; ``NEST_LOOP`` if it compares all pairs), or both sides by key
(``SHUFFLE_HASH``). Hints say so, or the side is small for certain: statistics of all its tables are known, and it is estimated to have no
more bytes than a threshold. What comes out without a partner must not be kept, so a full join cannot be done in this way. All other joins
keep both sides.
"""

from __future__ import annotations

from dataclasses import replace

from wiesel.sql.costs.estimator import Estimator
from wiesel.sql.plan.changelog import changes_of
from wiesel.sql.plan.equations import equi_keys
from wiesel.sql.plan.relations import Join, JoinHint, JoinType, Relation

__all__ = ["THRESHOLD", "with_strategies"]

THRESHOLD = "table.optimizer.join.broadcast-threshold"
"""Up to how many bytes a side is sent to all tasks (1048576 by default, as in Flink; -1 for never)."""

_KEPT = {
    JoinType.INNER: (0, 1),
    JoinType.LEFT: (1,),
    JoinType.RIGHT: (0,),
    JoinType.FULL: (),
    JoinType.SEMI: (1,),
    JoinType.ANTI: (1,),
}
"""Of each type of join, the sides that may be kept."""


def with_strategies(relation: Relation, estimator: Estimator, threshold: int) -> Relation:
    """Return a relation whose joins know how they are done; ``threshold`` is in bytes."""
    inputs = [with_strategies(each, estimator, threshold) for each in relation.inputs]
    if any(new is not old for new, old in zip(inputs, relation.inputs, strict=True)):
        relation = relation.with_inputs(*inputs)
    if not isinstance(relation, Join):
        return relation
    strategy = _strategy(relation, estimator, threshold)
    return relation if strategy is None else replace(relation, strategy=strategy)


def _strategy(join: Join, estimator: Estimator, threshold: int) -> JoinHint | None:
    sides = (join.left, join.right)
    if not all(changes_of(each).append_only for each in sides):
        return None
    compares_all = not equi_keys(join.condition, len(join.left.fields)).left
    hint = join.hint
    if hint is not None and hint.strategy == "SHUFFLE_MERGE":
        return None
    if hint is not None and hint.side in _KEPT[join.type] and not (compares_all and hint.strategy == "SHUFFLE_HASH"):
        return replace(hint, strategy="NEST_LOOP") if compares_all else hint
    small = [side for side in _KEPT[join.type] if estimator.of(sides[side]).known and estimator.of(sides[side]).bytes <= threshold]
    if not small:
        return None
    side = min(small, key=lambda each: estimator.of(sides[each]).bytes)
    return JoinHint("NEST_LOOP" if compares_all else "BROADCAST", side)
