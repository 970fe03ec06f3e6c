"""Internal. ``WITH RECURSIVE`` in batch mode: semi-naive evaluation, a job per round.

F. Bancilhon, "Naive Evaluation of Recursively Defined Relations", 1986: a round reads only the rows that the round before has added. The
rows of all rounds are kept by the program that runs the query. Flink 2.3 reads such queries and refuses to run them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from wiesel.columnar.keys import key_values
from wiesel.core.errors import ProgramError
from wiesel.sql.plan.relations import ArrowScan, Recursion, RecursiveScan, Relation, walk

__all__ = ["MOST_ROUNDS", "is_recursive", "without_recursion"]

MOST_ROUNDS = "table.exec.recursion.max-rounds"
"""After how many rounds a recursive query is given up (1000 by default)."""


def is_recursive(relation: Relation) -> bool:
    """Return whether there is recursion in a plan."""
    return any(isinstance(each, Recursion) for each in walk(relation))


def without_recursion(relation: Relation, run: Callable[[Relation], pa.Table], most: int) -> Relation:
    """Return a plan with the rows of its recursive queries in their place.

    Args:
        relation: The plan.
        run: Returns the rows of a plan.
        most: How many rounds there may be.

    Raises:
        ProgramError: If there are more.
    """
    if isinstance(relation, Recursion):
        return ArrowScan(_rows_of(relation, run, most), relation.columns)
    inputs = [without_recursion(each, run, most) for each in relation.inputs]
    if all(new is old for new, old in zip(inputs, relation.inputs, strict=True)):
        return relation
    return relation.with_inputs(*inputs)


def _rows_of(recursion: Recursion, run: Callable[[Relation], pa.Table], most: int) -> pa.Table:
    seen: set[Any] = set()
    added = _new(run(recursion.seed), seen) if recursion.distinct else run(recursion.seed)
    parts = [added]
    rounds = 0
    while added.num_rows:
        rounds += 1
        if rounds > most:
            raise ProgramError(
                f"the recursive query {recursion.alias} has no end after {most} rounds",
                hint=f"let it return no rows at some time, write UNION in place of UNION ALL, or set '{MOST_ROUNDS}'",
            )
        found = run(_reading(recursion.step, recursion.scan, ArrowScan(added, recursion.columns)))
        added = _new(found, seen) if recursion.distinct else found
        parts.append(added)
    return pa.concat_tables(part.cast(parts[0].schema) for part in parts)


def _reading(step: Relation, scan: RecursiveScan, rows: ArrowScan) -> Relation:
    if step is scan:
        return rows
    inputs = [_reading(each, scan, rows) for each in step.inputs]
    if all(new is old for new, old in zip(inputs, step.inputs, strict=True)):
        return step
    return step.with_inputs(*inputs)


def _new(rows: pa.Table, seen: set[Any]) -> pa.Table:
    """Return the rows that were not there before, each once, and note them."""
    places = []
    columns = [key_values(column.combine_chunks()) for column in rows.columns]
    for place, row in enumerate(zip(*columns, strict=True)):
        if row not in seen:
            seen.add(row)
            places.append(place)
    return rows.take(pa.array(places, pa.int64()))
