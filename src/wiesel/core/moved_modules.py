"""Internal. Former names of modules, which pickles in savepoints and checkpoints have for the classes of their values.

Importing a former name gives the module that has its contents now: the same module object, so classes are the same too.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["MOVED", "FormerNames"]

MOVED: dict[str, str] = {
    "runtime.table.aggregation": "runtime.table.aggregate.aggregation",
    "runtime.table.build_probe_join": "runtime.table.join.build_probe_join",
    "runtime.table.changelogs": "runtime.table.changelog.conversion",
    "runtime.table.count_windows": "runtime.table.window.count_windows",
    "runtime.table.final_rows": "runtime.table.changelog.final_rows",
    "runtime.table.fired_windows": "runtime.table.window.fired_windows",
    "runtime.table.first_row": "runtime.table.rank.first_row",
    "runtime.table.group_aggregate": "runtime.table.aggregate.group_aggregate",
    "runtime.table.group_keys": "runtime.table.aggregate.group_keys",
    "runtime.table.group_store": "runtime.table.aggregate.group_store",
    "runtime.table.incremental_aggregate": "runtime.table.aggregate.incremental_aggregate",
    "runtime.table.interval_join": "runtime.table.join.interval_join",
    "runtime.table.join_state": "runtime.table.join.join_state",
    "runtime.table.kept_values": "runtime.table.aggregate.value_multisets",
    "runtime.table.local_aggregate": "runtime.table.aggregate.local_aggregate",
    "runtime.table.local_window_aggregate": "runtime.table.window.local_aggregate",
    "runtime.table.lookup_cache": "runtime.table.join.lookup_cache",
    "runtime.table.lookup_join": "runtime.table.join.lookup_join",
    "runtime.table.nested_order": "runtime.table.rank.nested_order",
    "runtime.table.over_aggregate": "runtime.table.over.aggregate",
    "runtime.table.over_batch": "runtime.table.over.batch",
    "runtime.table.over_bounded": "runtime.table.over.bounded",
    "runtime.table.over_changes": "runtime.table.over.changes",
    "runtime.table.over_positions": "runtime.table.over.positions",
    "runtime.table.over_results": "runtime.table.over.results",
    "runtime.table.over_slots": "runtime.table.over.slots",
    "runtime.table.over_unbounded": "runtime.table.over.unbounded",
    "runtime.table.partial_buckets": "runtime.table.aggregate.partial_buckets",
    "runtime.table.partials": "runtime.table.aggregate.partials",
    "runtime.table.process_function": "runtime.table.process.function",
    "runtime.table.process_order": "runtime.table.process.order",
    "runtime.table.process_spec": "runtime.table.process.spec",
    "runtime.table.process_state": "runtime.table.process.state",
    "runtime.table.row_order": "runtime.table.rank.row_order",
    "runtime.table.sampling": "runtime.table.aggregate.sampling",
    "runtime.table.seen_pairs": "runtime.table.aggregate.seen_pairs",
    "runtime.table.session_aggregate": "runtime.table.window.session_aggregate",
    "runtime.table.session_partials": "runtime.table.window.session_partials",
    "runtime.table.session_table": "runtime.table.window.session_table",
    "runtime.table.sink_rows": "runtime.table.changelog.sink_rows",
    "runtime.table.slice_store": "runtime.table.window.slice_store",
    "runtime.table.slot_arrays": "runtime.table.aggregate.slot_arrays",
    "runtime.table.table_aggregate": "runtime.table.aggregate.table_aggregate",
    "runtime.table.temporal_join": "runtime.table.join.temporal_join",
    "runtime.table.time_sort": "runtime.table.rank.time_sort",
    "runtime.table.top_n": "runtime.table.rank.top_n",
    "runtime.table.updated_top_n": "runtime.table.rank.updated_top_n",
    "runtime.table.upsert_conflicts": "runtime.table.changelog.upsert_conflicts",
    "runtime.table.upsert_materialize": "runtime.table.changelog.upsert_materialize",
    "runtime.table.window_aggregate": "runtime.table.window.aggregate",
    "runtime.table.window_join": "runtime.table.window.join",
    "runtime.table.window_partials": "runtime.table.window.partials",
    "runtime.table.window_regular": "runtime.table.window.waiting_rows",
    "runtime.table.window_rows": "runtime.table.window.row_store",
    "runtime.table.window_spec": "runtime.table.window.spec",
    "runtime.table.window_table": "runtime.table.window.window_table",
    "runtime.table.window_top_n": "runtime.table.window.top_n",
}
"""Former name -> present name of a module, both without the package's own."""


class FormerNames:
    """Finder and loader of modules by their former names, for the end of ``sys.meta_path``: a module that exists has precedence."""

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return how to load a module that has moved; None for all others."""
        package, _, name = fullname.partition(".")
        return ModuleSpec(fullname, self) if package == "wiesel" and name in MOVED else None  # type: ignore[arg-type]  # a base class would load importlib.abc

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to the import system to create a module, which :meth:`exec_module` replaces."""

    def exec_module(self, module: ModuleType) -> None:
        """Put the module of the present name in the place of the one that was created."""
        sys.modules[module.__name__] = import_module(f"wiesel.{MOVED[module.__name__.partition('.')[2]]}")
