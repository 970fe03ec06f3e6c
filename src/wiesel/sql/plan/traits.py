"""Internal. The traits of each kind of relation: for which subjects of planning it has a rule of its own.

The rules are in the modules of their subjects, by the name of the class. A new kind of relation gets a record here, which decides subject
by subject whether the default is right for it; a test compares the records with all the tables of rules.
"""

from __future__ import annotations

import enum

__all__ = ["TRAITS", "Own"]


class Own(enum.Flag):
    """Subjects for which a kind of relation can have a rule of its own.

    The defaults of kinds without one:

    ``CHANGELOG``: planning fails; only kinds that others replace before are without. ``KEYS``: no upsert key. ``STATE``: no state.
    ``PARALLELISM``: neither the option nor the hint applies. ``COST``: that of passing rows on. ``ESTIMATE``: as many rows as its input
    has. ``PRUNING``: all columns of its inputs are read. ``DECORRELATION``: it cannot read columns of an outer query.
    ``TRANSLATION``: it cannot be run. ``DESCRIPTION``: EXPLAIN shows its fields. ``LOGICAL_NODE``, ``PHYSICAL_NODE``: EXPLAIN shows its
    name, as real Flink has no such node or shows it as part of another.
    """

    CHANGELOG = enum.auto()
    KEYS = enum.auto()
    STATE = enum.auto()
    PARALLELISM = enum.auto()
    COST = enum.auto()
    ESTIMATE = enum.auto()
    PRUNING = enum.auto()
    DECORRELATION = enum.auto()
    TRANSLATION = enum.auto()
    DESCRIPTION = enum.auto()
    LOGICAL_NODE = enum.auto()
    PHYSICAL_NODE = enum.auto()
    RUN = CHANGELOG | TRANSLATION
    EXPLAINED = LOGICAL_NODE | PHYSICAL_NODE


TRAITS: dict[str, Own] = {
    "Aggregate": (
        Own.RUN | Own.EXPLAINED | Own.KEYS | Own.STATE | Own.PARALLELISM | Own.COST
        | Own.ESTIMATE | Own.PRUNING | Own.DECORRELATION | Own.DESCRIPTION
    ),
    "ArrowScan": Own.RUN | Own.EXPLAINED | Own.ESTIMATE | Own.PRUNING,
    "CountWindowAggregate": Own.RUN | Own.STATE | Own.COST,
    "Expand": Own.RUN | Own.PRUNING | Own.PHYSICAL_NODE,
    "Filter": Own.RUN | Own.EXPLAINED | Own.KEYS | Own.ESTIMATE | Own.PRUNING | Own.DECORRELATION | Own.DESCRIPTION,
    "FromChangelog": Own.RUN | Own.DESCRIPTION,
    "Join": (
        Own.RUN | Own.EXPLAINED | Own.KEYS | Own.STATE | Own.PARALLELISM | Own.COST
        | Own.ESTIMATE | Own.PRUNING | Own.DECORRELATION | Own.DESCRIPTION
    ),
    "Limit": Own.LOGICAL_NODE,
    "LookupJoin": Own.RUN | Own.KEYS | Own.DESCRIPTION | Own.PHYSICAL_NODE,
    "Match": Own.RUN | Own.STATE | Own.COST | Own.PHYSICAL_NODE,
    "OverAggregate": Own.RUN | Own.EXPLAINED | Own.KEYS | Own.STATE | Own.PARALLELISM | Own.COST | Own.PRUNING | Own.DECORRELATION,
    "ProcessTable": Own.RUN | Own.KEYS | Own.STATE | Own.DESCRIPTION | Own.PHYSICAL_NODE,
    "Project": Own.RUN | Own.EXPLAINED | Own.KEYS | Own.ESTIMATE | Own.PRUNING | Own.DECORRELATION | Own.DESCRIPTION,
    "Recursion": Own.CHANGELOG | Own.DESCRIPTION,
    "RecursiveScan": Own.CHANGELOG | Own.DESCRIPTION,
    "Sort": Own.LOGICAL_NODE,
    "StatisticsScan": Own.RUN | Own.ESTIMATE | Own.DESCRIPTION,
    "StreamScan": Own.RUN | Own.EXPLAINED,
    "TableAggregate": Own.RUN | Own.STATE | Own.COST,
    "TableScan": Own.RUN | Own.EXPLAINED | Own.KEYS | Own.COST | Own.ESTIMATE | Own.PRUNING | Own.DESCRIPTION,
    "TemporalJoin": Own.RUN | Own.EXPLAINED | Own.KEYS | Own.STATE | Own.PARALLELISM | Own.COST,
    "ToChangelog": Own.RUN | Own.DESCRIPTION,
    "TopN": (
        Own.RUN | Own.EXPLAINED | Own.KEYS | Own.STATE | Own.PARALLELISM | Own.COST
        | Own.ESTIMATE | Own.PRUNING | Own.DECORRELATION | Own.DESCRIPTION
    ),
    "Union": Own.RUN | Own.EXPLAINED | Own.ESTIMATE | Own.PRUNING | Own.DECORRELATION,
    "Unnest": Own.RUN | Own.EXPLAINED | Own.PRUNING | Own.DECORRELATION,
    "Values": Own.RUN | Own.EXPLAINED | Own.ESTIMATE,
    "WatermarkAssigner": Own.RUN | Own.EXPLAINED | Own.KEYS | Own.PRUNING | Own.DESCRIPTION,
    "WindowAggregate": Own.RUN | Own.STATE | Own.PARALLELISM | Own.COST | Own.ESTIMATE | Own.PRUNING | Own.DESCRIPTION | Own.PHYSICAL_NODE,
    "WindowTable": Own.RUN | Own.EXPLAINED | Own.STATE | Own.PRUNING,
}
"""Name of the class of a relation -> the subjects for which it has a rule."""
