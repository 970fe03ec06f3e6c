"""Internal. Registry of operators by the kind of their spec.

Modules are referred to by name, so that a worker imports only those of its task, and SQL or CEP add their kinds by ``register``.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import Any

from wiesel.core.errors import invariant
from wiesel.runtime.operator import StreamOperator

# kind -> "module:factory"; a factory takes (params, payload) and returns a StreamOperator.
_FACTORIES: dict[str, str] = {
    "map": "wiesel.runtime.operators.stateless:map_operator",
    "flat_map": "wiesel.runtime.operators.stateless:flat_map_operator",
    "filter": "wiesel.runtime.operators.stateless:filter_operator",
    "project": "wiesel.runtime.operators.stateless:project_operator",
    "convert": "wiesel.runtime.operators.stateless:convert_operator",
    "timestamps": "wiesel.runtime.operators.timestamps:timestamps_operator",
    "process": "wiesel.runtime.operators.process:process_operator",
    "keyed_process": "wiesel.runtime.operators.process:keyed_process_operator",
    "keyed_map": "wiesel.runtime.operators.keyed:keyed_map_operator",
    "keyed_flat_map": "wiesel.runtime.operators.keyed:keyed_flat_map_operator",
    "keyed_filter": "wiesel.runtime.operators.keyed:keyed_filter_operator",
    "keyed_reduce": "wiesel.runtime.operators.keyed:keyed_reduce_operator",
    "co_map": "wiesel.runtime.operators.two_input:co_map_operator",
    "co_flat_map": "wiesel.runtime.operators.two_input:co_flat_map_operator",
    "co_process": "wiesel.runtime.operators.two_input:co_process_operator",
    "keyed_co_process": "wiesel.runtime.operators.two_input:keyed_co_process_operator",
    "broadcast_process": "wiesel.runtime.operators.broadcast:broadcast_process_operator",
    "keyed_broadcast_process": "wiesel.runtime.operators.broadcast:keyed_broadcast_process_operator",
    "async_wait": "wiesel.runtime.operators.async_wait:async_wait_operator",
    "iteration_head": "wiesel.runtime.operators.iteration:head_operator",
    "iteration_input": "wiesel.runtime.operators.rounds:round_input_operator",
    "iteration_tail": "wiesel.runtime.operators.iteration:tail_operator",
    "window": "wiesel.runtime.operators.window:window_operator",
    "co_group": "wiesel.runtime.operators.window:co_group_operator",
    "interval_join": "wiesel.runtime.operators.interval_join:interval_join_operator",
    "batch_reduce": "wiesel.runtime.operators.batch.grouping:reduce_operator",
    "batch_combine": "wiesel.runtime.operators.batch.grouping:combine_operator",
    "batch_group_reduce": "wiesel.runtime.operators.batch.grouping:group_reduce_operator",
    "batch_group_combine": "wiesel.runtime.operators.batch.grouping:group_combine_operator",
    "batch_sort": "wiesel.runtime.operators.batch.grouping:sort_operator",
    "batch_map_partition": "wiesel.runtime.operators.batch.partitions:map_partition_operator",
    "batch_apply": "wiesel.runtime.operators.batch.partitions:apply_operator",
    "batch_first": "wiesel.runtime.operators.batch.partitions:first_operator",
    "batch_count": "wiesel.runtime.operators.batch.partitions:count_operator",
    "batch_union": "wiesel.runtime.operators.batch.partitions:union_operator",
    "batch_hash_join": "wiesel.runtime.operators.batch.joining:hash_join_operator",
    "batch_merge_join": "wiesel.runtime.operators.batch.joining:merge_join_operator",
    "batch_co_group": "wiesel.runtime.operators.batch.joining:co_group_operator",
    "batch_cross": "wiesel.runtime.operators.batch.joining:cross_operator",
    "batch_sample": "wiesel.runtime.operators.batch.ranges:sample_operator",
    "batch_bounds": "wiesel.runtime.operators.batch.ranges:bounds_operator",
    "batch_ranges": "wiesel.runtime.operators.batch.ranges:ranges_operator",
    "batch_rounds": "wiesel.runtime.operators.batch.rounds:rounds_operator",
    "batch_solution_join": "wiesel.runtime.operators.batch.solution_set:solution_join_operator",
    "batch_solution_set": "wiesel.runtime.operators.batch.solution_set:solution_set_operator",
    "table_calc": "wiesel.runtime.table.calc:calc_operator",
    "table_from_rows": "wiesel.runtime.table.conversion:from_rows_operator",
    "table_unnest": "wiesel.runtime.table.unnest:unnest_operator",
    "table_match": "wiesel.cep.table_match:match_operator",
    "table_temporal_join": "wiesel.runtime.table.join.temporal_join:temporal_join_operator",
    "table_lookup": "wiesel.runtime.table.join.lookup_join:lookup_operator",
    "table_async_lookup": "wiesel.runtime.table.join.lookup_join:async_lookup_operator",
    "table_interval_join": "wiesel.runtime.table.join.interval_join:interval_join_operator",
    "table_build_probe_join": "wiesel.runtime.table.join.build_probe_join:build_probe_join_operator",
    "table_join": "wiesel.runtime.table.join.regular_join:join_operator",
    "table_time_sort": "wiesel.runtime.table.rank.time_sort:time_sort_operator",
    "table_first_row": "wiesel.runtime.table.rank.first_row:first_row_operator",
    "table_top_n": "wiesel.runtime.table.rank.top_n:top_n_operator",
    "table_updated_top_n": "wiesel.runtime.table.rank.updated_top_n:updated_top_n_operator",
    "table_window_join": "wiesel.runtime.table.window.join:window_join_operator",
    "table_window_top_n": "wiesel.runtime.table.window.top_n:window_top_n_operator",
    "table_sessions": "wiesel.runtime.table.window.session_table:session_table_operator",
    "table_values": "wiesel.runtime.table.values:values_operator",
    "table_drop_update_before": "wiesel.runtime.table.changelog.conversion:drop_update_before",
    "table_expand": "wiesel.runtime.table.calc:expand_operator",
    "table_over": "wiesel.runtime.table.over.unbounded:over_operator",
    "table_count_windows": "wiesel.runtime.table.window.count_windows:count_window_operator",
    "table_over_batch": "wiesel.runtime.table.over.batch:batch_over_operator",
    "table_over_changes": "wiesel.runtime.table.over.changes:changing_over_operator",
    "table_watermark": "wiesel.runtime.table.watermark:watermark_operator",
    "table_windows": "wiesel.runtime.table.window.window_table:window_table_operator",
    "table_window_aggregate": "wiesel.runtime.table.window.aggregate:window_aggregate_operator",
    "table_session_aggregate": "wiesel.runtime.table.window.session_aggregate:session_aggregate_operator",
    "table_group_aggregate": "wiesel.runtime.table.aggregate.group_aggregate:group_aggregate_operator",
    "table_local_group_aggregate": "wiesel.runtime.table.aggregate.local_aggregate:local_group_aggregate_operator",
    "table_incremental_group_aggregate": "wiesel.runtime.table.aggregate.incremental_aggregate:incremental_group_aggregate_operator",
    "table_local_session_aggregate": "wiesel.runtime.table.window.session_partials:local_session_aggregate_operator",
    "table_local_window_aggregate": "wiesel.runtime.table.window.local_aggregate:local_window_aggregate_operator",
    "table_process_function": "wiesel.runtime.table.process.function:process_function_operator",
    "table_table_aggregate": "wiesel.runtime.table.aggregate.table_aggregate:table_aggregate_operator",
    "table_to_rows": "wiesel.runtime.table.conversion:to_rows_operator",
    "table_final_rows": "wiesel.runtime.table.changelog.final_rows:final_rows_operator",
    "table_upsert_materialize": "wiesel.runtime.table.changelog.upsert_materialize:upsert_materialize_operator",
    "table_to_changelog": "wiesel.runtime.table.changelog.conversion:to_changelog_operator",
    "table_from_changelog": "wiesel.runtime.table.changelog.conversion:from_changelog_operator",
    "table_watermark_stamps": "wiesel.runtime.table.changelog.upsert_conflicts:watermark_stamps_operator",
    "table_upsert_conflicts": "wiesel.runtime.table.changelog.upsert_conflicts:upsert_conflicts_operator",
    "table_sink_rows": "wiesel.runtime.table.changelog.sink_rows:sink_rows_operator",
    "source": "wiesel.runtime.operators.source:source_operator",
    "sink": "wiesel.runtime.operators.sink:sink_operator",
}


def register(kind: str, factory: str) -> None:
    """Add a kind; ``factory`` is ``module:function``."""
    _FACTORIES[kind] = factory


def modules_of(kinds: Iterable[str]) -> set[str]:
    """Return the modules of the operators of these kinds."""
    return {_FACTORIES[kind].partition(":")[0] for kind in kinds if kind in _FACTORIES}


def make_operator(kind: str, params: Mapping[str, Any], payload: Any) -> StreamOperator:
    """Create the operator of a spec (without setup)."""
    target = _FACTORIES.get(kind)
    invariant(target is not None, f"no operator of kind {kind!r} is registered")
    module, _, name = str(target).partition(":")
    operator = getattr(importlib.import_module(module), name)(dict(params), payload)
    invariant(isinstance(operator, StreamOperator), f"{target} did not return an operator")
    return operator  # type: ignore[no-any-return]
