"""Internal. Keys of the Table API and SQL: those read during planning, and those of Flink that have no effect here."""

from __future__ import annotations

import difflib

__all__ = ["KEYS", "misspelt", "reason"]

KEYS = frozenset(
    """
    table.catalog-store.file.path table.catalog-store.kind table.display.max-column-width table.dml-sync
    table.exec.async-scalar.buffer-capacity table.exec.async-scalar.max-attempts table.exec.async-scalar.max-concurrent-operations
    table.exec.async-scalar.retry-delay table.exec.async-scalar.retry-strategy table.exec.async-scalar.timeout
    table.exec.async-lookup.buffer-capacity table.exec.async-lookup.output-mode table.exec.async-lookup.timeout
    table.exec.local-hash-agg.adaptive.distinct-value-rate-threshold table.exec.local-hash-agg.adaptive.enabled
    table.exec.local-hash-agg.adaptive.sampling-threshold table.exec.mini-batch.allow-latency table.exec.mini-batch.enabled
    table.exec.mini-batch.size table.exec.operator-parallelism table.exec.recursion.max-rounds
    table.exec.resource.default-parallelism table.exec.sink.keyed-shuffle table.exec.sink.nested-constraint-enforcer
    table.exec.sink.not-null-enforcer table.exec.sink.require-on-conflict table.exec.sink.type-length-enforcer
    table.exec.sink.upsert-materialize table.exec.source.idle-timeout table.exec.state.ttl table.local-time-zone
    table.optimizer.agg-phase-strategy table.optimizer.bushy-join-reorder-threshold table.optimizer.distinct-agg.split.bucket-num
    table.optimizer.distinct-agg.split.enabled table.optimizer.join-reorder-enabled table.optimizer.join.broadcast-threshold
    table.optimizer.non-deterministic-update.strategy table.optimizer.reuse-sub-plan-enabled
    table.optimizer.source.aggregate-pushdown-enabled
    table.optimizer.source.report-statistics-enabled table.plan.compile.catalog-objects table.plan.force-recompile
    table.plan.restore.catalog-objects table.sql-dialect
    """.split()
)
"""Keys that are read."""

_CASTS = "a CAST that cannot be done fails, as by Flink's default; TRY_CAST returns NULL"
_MEMORY = "the memory of batch algorithms is taskmanager.memory.managed.size"
_PLANS = "plans are created differently"
_ASYNC = "asynchronous calls of this kind have no such setting"
_WITHOUT_EFFECT = {
    **dict.fromkeys(("table.builtin-catalog-name", "table.builtin-database-name"), "they have Flink's default names"),
    **dict.fromkeys(("table.catalog-modification.listeners", "table.resources.download-dir"), "there are no classes of the JVM in a job"),
    **dict.fromkeys(
        "table.default-freshness.continuous table.default-freshness.full table.default-start-mode "
        "table.refresh-mode.freshness-threshold".split(),
        "there are no materialized tables",
    ),
    **dict.fromkeys(("table.generated-code.max-length", "table.generated-code.max-members"), "no code is generated"),
    **dict.fromkeys(("table.exec.async-state.enabled", "table.exec.uid.format", "table.exec.uid.generation"), _PLANS),
    **dict.fromkeys(("table.exec.legacy-cast-behaviour",), _CASTS),
    "table.column-expansion-strategy": "* stands for all columns",
    "table.dynamic-table-options.enabled": "the hint OPTIONS is always allowed",
    "table.exec.disabled-operators": _PLANS,
    "table.exec.source.cdc-events-duplicate": "duplicate changes count twice",
    "table.exec.sink.rowtime-inserter": "the column with event time is the time of the rows",
    "table.exec.sort.default-limit": "all rows are sorted",
    "table.exec.sort.non-temporal.enabled": "a query in streaming mode is sorted by time or up to a LIMIT",
    "table.legacy-nested-row-nullability": "types are those of Flink's default",
    "table.rtas-ctas.atomicity-enabled": "a table created by a query exists from the start of its job",
}
_WITHOUT_EFFECT_BELOW = {
    "table.exec.async-": _ASYNC,
    "table.exec.deduplicate.": _PLANS,
    "table.exec.delta-join.": _PLANS,
    "table.exec.dynamic-filtering.": _PLANS,
    "table.exec.interval-join.": _PLANS,
    "table.exec.operator-fusion-codegen.": "no code is generated",
    "table.exec.rank.": _PLANS,
    "table.exec.resource.": _MEMORY,
    "table.exec.simplify-operator-name-": _PLANS,
    "table.exec.sink.upsert-materialize-strategy.": _PLANS,
    "table.exec.sort.": _MEMORY,
    "table.exec.spill-compression.": _MEMORY,
    "table.exec.unbounded-over.": _PLANS,
    "table.exec.window-agg.": _MEMORY,
    "table.optimizer.": _PLANS,
}


def reason(key: str) -> str | None:
    """Return the reason why a key of Flink has no effect; None for one that is read or is not Flink's."""
    if key in KEYS:
        return None
    if key in _WITHOUT_EFFECT:
        return _WITHOUT_EFFECT[key]
    return next((text for prefix, text in _WITHOUT_EFFECT_BELOW.items() if key.startswith(prefix)), None)


def misspelt(key: str) -> str | None:
    """Return the key that a misspelt one differs from in a letter or two; None if there is none."""
    if key in KEYS or key in _WITHOUT_EFFECT:
        return None
    near = difflib.get_close_matches(key, [*KEYS, *_WITHOUT_EFFECT], n=1, cutoff=0.94)
    return near[0] if near else None
