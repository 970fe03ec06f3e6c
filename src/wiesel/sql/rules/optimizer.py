"""Internal. Applies the rules to the plans of a job, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from wiesel.columnar.evaluation import Session
from wiesel.sql.plan import Relation
from wiesel.sql.rules.merge import merged
from wiesel.sql.rules.prune import pruned
from wiesel.sql.rules.scan_filters import with_scan_filters
from wiesel.sql.rules.share import shared
from wiesel.sql.rules.simplify import simplified

__all__ = ["REUSE", "Options", "optimized"]

REUSE = "table.optimizer.reuse-sub-plan-enabled"
"""Whether what is computed at several places is computed once (``true`` by default, as in Flink)."""


class Options(Protocol):
    """Where options are found."""

    def get_string(self, key: str, default: str) -> str:
        """Return the value of an option."""
        ...


def optimized(roots: Sequence[Relation], options: Options) -> list[Relation]:
    """Return the plans of one job, with the same fields, results and kinds of changes, as they are run."""
    zone = options.get_string("table.local-time-zone", "default")
    session = Session(time_zone="UTC" if zone == "default" else zone)
    found = [merged(simplified(root, session)) for root in roots]
    found = [merged(root) for root in pruned(found)]
    found = with_scan_filters(found)
    return shared(found) if options.get_string(REUSE, "true").strip().lower() == "true" else found
