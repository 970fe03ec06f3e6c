"""Details of EXPLAIN in addition to the plan."""

from enum import Enum

__all__ = ["ExplainDetail"]


class ExplainDetail(Enum):
    """Details of EXPLAIN in addition to the plan."""

    ESTIMATED_COST = 0
    CHANGELOG_MODE = 1
    JSON_EXECUTION_PLAN = 2
    PLAN_ADVICE = 3
