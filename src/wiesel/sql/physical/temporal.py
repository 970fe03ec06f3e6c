"""Internal. Joins with a table as it was at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wiesel.columnar.expressions import Expression, InputRef
from wiesel.core.errors import ProgramError
from wiesel.core.options import RUNTIME_MODE
from wiesel.runtime.table.join.temporal_join import TemporalJoinSpec
from wiesel.sql.plan.equations import sides_of_equation
from wiesel.sql.rules.project import with_columns
from wiesel.sql.rules.push_down import all_of, conjuncts

if TYPE_CHECKING:
    from wiesel.graph.transformations import Transformation
    from wiesel.sql.physical.translator import Translator
    from wiesel.sql.plan.temporal_relations import TemporalJoin

__all__ = ["temporal_join"]


def temporal_join(translator: Translator, relation: TemporalJoin) -> Transformation:
    """Return the rows beside the versions at their time.

    Raises:
        ProgramError: If it is a BATCH job.
    """
    if translator.environment._config.get(RUNTIME_MODE) == "BATCH":
        raise ProgramError(
            "joins with FOR SYSTEM_TIME AS OF event time are not supported in BATCH mode",
            hint="set execution.runtime-mode to STREAMING, which reads bounded tables to their end, too",
        )
    width = len(relation.left.fields)
    asked, rest = _equations(relation, width)
    left, left_keys = with_columns(relation.left, asked)
    spec = TemporalJoinSpec(
        outer=relation.type.value == "LEFT",
        left_keys=left_keys,
        right_keys=relation.key,
        left_time=relation.left_time,
        right_time=relation.right_time,
        width=width,
        condition=rest,
        left=translator.schema(left),
        right=translator.schema(relation.right),
        schema=translator.schema(relation),
    )
    inputs = [
        translator.by_key(translator.translate(left), left_keys),
        translator.by_key(translator.translate(relation.right), relation.key),
    ]
    return translator.operator("TemporalJoin", "table_temporal_join", spec, inputs)


def _equations(relation: TemporalJoin, width: int) -> tuple[list[Expression], Expression | None]:
    """Return what each column of the key must be equal to, over the left side, and the rest of the condition."""
    asked: dict[int, Expression] = {}
    rest = []
    for part in conjuncts(relation.condition):
        sides = sides_of_equation(part, width)
        column = sides[1].index - width if sides is not None and isinstance(sides[1], InputRef) else -1
        if sides is not None and column in relation.key and column not in asked and getattr(part, "function", "") == "=":
            asked[column] = sides[0]
        else:
            rest.append(part)
    return [asked[column] for column in relation.key], all_of(rest)
