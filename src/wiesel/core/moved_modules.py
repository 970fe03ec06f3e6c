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
    "datastream._execution": "datastream.job_execution",
    "datastream._lazy": "core.lazy_names",
    "datastream._record_type": "types.record_type",
    "datastream._transformations": "graph.transformations",
    "platform.cli._sql_session": "platform.cli.sql_session",
    "runtime.table.aggregation": "runtime.table.aggregate.aggregation",
    "runtime.table.build_probe_join": "runtime.table.join.build_probe_join",
    "runtime.table.changelogs": "runtime.table.changelog.conversion",
    "runtime.table.column_keys": "graph.specs",
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
    "sql.altering_tables": "sql.ddl.alter_table",
    "sql.analyzing": "sql.ddl.analyze_table",
    "sql.bound_calls": "sql.plan.bound_calls",
    "sql.canonical": "sql.ddl.canonical_expressions",
    "sql.catalog_documents": "sql.catalog.documents",
    "sql.catalog_factories": "sql.catalog.factories",
    "sql.catalog_manager": "sql.catalog.manager",
    "sql.catalog_models": "sql.catalog.named_models",
    "sql.catalog_store": "sql.catalog.store",
    "sql.catalogs": "sql.catalog.catalogs",
    "sql.changelog": "sql.plan.changelog",
    "sql.changelog_plan": "sql.plan.changelog_relations",
    "sql.compiled_plans": "sql.session.compiled_plans",
    "sql.core_functions": "sql.catalog.core_functions",
    "sql.definitions": "sql.ddl.definitions",
    "sql.equations": "sql.plan.equations",
    "sql.explained_phases": "sql.explain.phases",
    "sql.explaining": "sql.explain.statement",
    "sql.hive_conversions": "sql.hive.conversions",
    "sql.hive_functions": "sql.hive.functions",
    "sql.hive_tables": "sql.hive.table_functions",
    "sql.information": "sql.ddl.information",
    "sql.inserting": "sql.dml.insert",
    "sql.interval_joins": "sql.plan.interval_joins",
    "sql.jobs": "sql.session.jobs",
    "sql.kept_state": "sql.plan.kept_state",
    "sql.key_forms": "sql.plan.key_forms",
    "sql.keys_without_order": "sql.plan.keys_without_order",
    "sql.language.hive_aggregates": "sql.language.hive.aggregates",
    "sql.language.hive_creating": "sql.language.hive.creating",
    "sql.language.hive_cursor": "sql.language.hive.cursor",
    "sql.language.hive_dialect": "sql.language.hive.dialect",
    "sql.language.hive_nodes": "sql.language.hive.nodes",
    "sql.language.hive_parser": "sql.language.hive.parser",
    "sql.language.hive_trees": "sql.language.hive.trees",
    "sql.language.hive_types": "sql.language.hive.types",
    "sql.lateral_plan": "sql.plan.lateral_relations",
    "sql.likes": "sql.ddl.create_like",
    "sql.match_plan": "sql.plan.match_relations",
    "sql.materializing": "sql.dml.upsert_materialization",
    "sql.models": "sql.catalog.models",
    "sql.modules": "sql.catalog.modules",
    "sql.operator_parallelism": "sql.plan.operator_parallelism",
    "sql.operator_uids": "sql.plan.operator_uids",
    "sql.over_plan": "sql.plan.over_relations",
    "sql.paths": "sql.catalog.paths",
    "sql.plan_documents": "sql.plan.documents",
    "sql.program_rows": "sql.session.program_rows",
    "sql.recursion": "sql.session.recursion",
    "sql.relations": "sql.catalog.relations",
    "sql.result_texts": "sql.session.result_strings",
    "sql.sink_types": "sql.dml.sink_types",
    "sql.sqlite_catalog": "sql.catalog.sqlite_catalog",
    "sql.stream_rows": "sql.session.stream_rows",
    "sql.stream_tables": "sql.session.stream_tables",
    "sql.table_factories": "sql.catalog.table_factories",
    "sql.tableau": "sql.session.tableau",
    "sql.temporal_plan": "sql.plan.temporal_relations",
    "sql.translation": "sql.session.translation",
    "sql.upsert_keys": "sql.plan.upsert_keys",
    "sql.upserts": "sql.session.upserts",
    "sql.user_functions": "sql.catalog.user_functions",
    "sql.user_plan": "sql.plan.user_relations",
    "sql.watermark_options": "sql.ddl.watermark_options",
    "sql.window_plan": "sql.plan.window_relations",
    "state_processor._plain": "state_processor.plain_values",
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
