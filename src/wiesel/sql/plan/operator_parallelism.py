"""Internal. The parallelism of single operators of SQL, by the option ``table.exec.operator-parallelism`` and the hint ``PARALLELISM``."""

from __future__ import annotations

from collections.abc import Mapping

from wiesel.core.errors import ConfigurationError
from wiesel.sql.plan.relations import Relation
from wiesel.sql.plan.traits import TRAITS, Own
from wiesel.sql.rules.options import Options

__all__ = ["OPERATOR_PARALLELISM", "PARALLEL", "operator_parallelism", "wanted_parallelism"]

OPERATOR_PARALLELISM = "table.exec.operator-parallelism"
"""``name:number`` separated by commas; a name is the uid of an operator as EXPLAIN shows it, or a kind of operators such as Join."""


PARALLEL = tuple(name for name, own in TRAITS.items() if Own.PARALLELISM in own)
"""Kinds of operators for which a query can say how parallel they are."""


def wanted_parallelism(relation: Relation, uid: str | None, options: Mapping[str, int]) -> int | None:
    """Return how parallel an operator is to be: by the option for its uid, a hint, or the option for its kind; None for the job's.

    Args:
        relation: What it computes.
        uid: Its uid; operators without state have none, and are chained with others.
        options: What the option says, by uid or kind.
    """
    if uid is None:
        return None
    return options.get(uid) or getattr(relation, "parallelism", None) or options.get(relation.name)


def operator_parallelism(options: Options) -> Mapping[str, int]:
    """Return how parallel operators are to be, by uid or kind.

    Raises:
        ConfigurationError: If the option cannot be read.
    """
    found: dict[str, int] = {}
    for part in filter(None, map(str.strip, options.get_string(OPERATOR_PARALLELISM, "").split(","))):
        name, _, number = part.rpartition(":")
        if not name or not number.strip().isdecimal() or int(number) < 1:
            raise ConfigurationError(
                f"option {OPERATOR_PARALLELISM}: {part!r} is not the name of an operator and a number",
                hint="write for example 'Join:4, Aggregate-0df8e8e19f88:8'; EXPLAIN shows the names",
                key=OPERATOR_PARALLELISM,
            )
        found[name.strip()] = int(number)
    return found
