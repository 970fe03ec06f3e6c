"""Internal. Joins without bounds in time."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.expressions import Expression, InputRef, transformed
from wiesel.columnar.functions.registry import call
from wiesel.core.options import RUNTIME_MODE
from wiesel.graph.specs import PartitionerSpec
from wiesel.graph.transformations import PartitionTransformation, Transformation
from wiesel.runtime.table.join.build_probe_join import BuildProbeSpec
from wiesel.runtime.table.join.interval_join import IntervalJoinSpec
from wiesel.runtime.table.join.join_state import JoinSide
from wiesel.runtime.table.join.regular_join import JoinSpec
from wiesel.runtime.table.window.join import WindowJoinSpec
from wiesel.sql.physical.translator import Translator, single
from wiesel.sql.plan.changelog import changes_of
from wiesel.sql.plan.equations import EQUALS, EquiKeys, equi_keys
from wiesel.sql.plan.interval_joins import interval_of
from wiesel.sql.plan.relations import Field, Join, JoinHint, JoinType, Project, Relation
from wiesel.sql.plan.upsert_keys import upsert_keys
from wiesel.sql.plan.window_relations import window_bounds_of, windows_of_join
from wiesel.sql.rules.project import with_columns
from wiesel.sql.rules.push_down import all_of, conjuncts

__all__ = ["join"]


def join(translator: Translator, relation: Join) -> Transformation:
    """Return the pairs of rows, and the rows that come out without a partner."""
    width = len(relation.left.fields)
    keys = equi_keys(relation.condition, width)
    left, left_keys = with_columns(relation.left, keys.left)
    right, right_keys = with_columns(relation.right, keys.right)
    if left is not relation.left or right is not relation.right:
        return translator.translate(_without_key_columns(relation, left, right, (left_keys, right_keys), keys))
    sides = (
        _side(translator, left, left_keys, keys, relation.ttl[0]),
        _side(translator, right, right_keys, keys, relation.ttl[1]),
    )
    spec = JoinSpec(relation.type.value, sides, keys.rest, translator.schema(relation))
    if relation.strategy is not None:
        return _build_probe(translator, relation, relation.strategy, spec)
    inputs = [
        translator.by_key(translator.translate(left), left_keys),
        translator.by_key(translator.translate(right), right_keys),
    ]
    ends, bounds = windows_of_join(relation), window_bounds_of(left)
    if ends is not None and bounds is not None and translator.environment._config.get(RUNTIME_MODE) != "BATCH":
        pairs = pa.schema([pa.field(f"f{i}", of.type) for i, of in enumerate((*sides[0].schema, *sides[1].schema))])
        windowed = WindowJoinSpec(spec, ends, pairs, arrow_type(bounds.of.data_type))
        return translator.operator("WindowJoin", "table_window_join", windowed, inputs)
    interval = interval_of(relation) if sides[0].appends and sides[1].appends else None
    if interval is not None and translator.environment._config.get(RUNTIME_MODE) != "BATCH":
        within = IntervalJoinSpec(spec, interval.times, interval.lower, interval.upper)
        return translator.operator("IntervalJoin", "table_interval_join", within, inputs)
    operator = translator.operator("Join", "table_join", spec, inputs)
    return operator if left_keys else single(operator)


def _build_probe(translator: Translator, relation: Join, strategy: JoinHint, spec: JoinSpec) -> Transformation:
    """Return a join that keeps one side, which all of its tasks get whole, or the part of their keys."""
    inputs = [translator.translate(each) for each in relation.inputs]
    if strategy.strategy == "SHUFFLE_HASH":
        inputs = [translator.by_key(rows, side.keys) for rows, side in zip(inputs, spec.sides, strict=True)]
    else:
        kept = inputs[strategy.side]
        inputs[strategy.side] = PartitionTransformation(kept.output_type, kept.location, kept, PartitionerSpec("broadcast"))
    name = {"NEST_LOOP": "NestedLoopJoin", "BROADCAST": "BroadcastHashJoin"}.get(strategy.strategy, "HashJoin")
    return translator.operator(name, "table_build_probe_join", BuildProbeSpec(spec, strategy.side), inputs)


def _without_key_columns(relation: Join, left: Relation, right: Relation, keys: tuple[tuple[int, ...], ...], of: EquiKeys) -> Relation:
    """Return the join of sides to which columns were added for the keys, without these columns."""
    width, wide = len(relation.left.fields), len(left.fields)

    def moved(part: Expression) -> Expression | None:
        return replace(part, index=part.index + wide - width) if isinstance(part, InputRef) and part.index >= width else None

    conditions: list[Expression] = []
    for one, other, safe in zip(*keys, of.null_safe, strict=True):
        types = left.fields[one].data_type, right.fields[other].data_type
        name = next(function for function, null_safe in EQUALS.items() if null_safe is safe)
        conditions.append(call(name, [InputRef(types[0], one), InputRef(types[1], wide + other)]))
    conditions += [transformed(part, moved) for part in conjuncts(of.rest)]
    filters = relation.type in (JoinType.SEMI, JoinType.ANTI)
    fields = left.fields if filters else tuple(Field(f"f{i}", f.data_type) for i, f in enumerate((*left.fields, *right.fields)))
    places = [*range(width)] if filters else [*range(width), *(wide + index for index in range(len(relation.right.fields)))]
    made = replace(relation, left=left, right=right, condition=all_of(conditions), columns=fields)
    refs = tuple(InputRef(field.data_type, place, field.name) for place, field in zip(places, relation.fields, strict=True))
    return Project(made, refs, relation.fields)


def _side(translator: Translator, relation: Relation, keys: tuple[int, ...], of: EquiKeys, ttl: int | None) -> JoinSide:
    unique = [tuple(sorted(key)) for key in upsert_keys(relation)]
    smallest = min(unique, key=lambda key: (not set(key) <= set(keys), len(key), key), default=None)
    return JoinSide(keys, of.null_safe, translator.schema(relation), changes_of(relation).append_only, smallest, ttl)
