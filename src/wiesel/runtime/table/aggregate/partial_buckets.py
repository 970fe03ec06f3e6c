"""Internal. Values of DISTINCT of a key distributed over buckets, so that several tasks deduplicate them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from wiesel.columnar.aggregates.calls import Input
from wiesel.columnar.grouping import Groups, Places, group_by
from wiesel.columnar.keys import key_values
from wiesel.runtime.table.aggregate.partials import Partial, Partials
from wiesel.state.key_groups import key_group

__all__ = ["bucketed"]


def bucketed(partial: Partial, partials: Partials, buckets: int) -> tuple[Partial, Places, Places]:
    """Return partials of groups split by bucket of their values, with the group and the bucket of each.

    Aggregates without DISTINCT are in the first bucket.
    """
    count = len(partial.added)
    chosen = {arguments: values.groups.ids * buckets + _buckets(values, buckets) for arguments, (values, _) in partial.values.items()}
    firsts = np.arange(count) * buckets
    found = np.unique(np.concatenate([firsts, *chosen.values()]))

    def groups(ids: Places) -> Groups:
        return Groups(np.searchsorted(found, ids), len(found))

    values = {arguments: (Input(values.columns, groups(chosen[arguments])), bits) for arguments, (values, bits) in partial.values.items()}
    first = groups(firsts)
    # Another bucket may be the first to reach its group, which is created when it has a row.
    added = np.maximum(first.sizes(partial.added), 1)
    return Partial(added, partials.spread(partial.slots, first), values), found // buckets, found % buckets


def _buckets(rows: Input, buckets: int) -> Places:
    """Return the bucket of each row's values: the same in every task."""
    groups = group_by(rows.columns, len(rows.groups))
    first = pa.array(groups.first)
    values = list(zip(*(key_values(column.take(first)) for column in rows.columns), strict=True))
    return np.fromiter((key_group(value, buckets) for value in values), np.int64, len(values))[groups.ids]
