"""What EXPLAIN tells besides the plan."""

from enum import Enum

__all__ = ["ExplainDetail"]


class ExplainDetail(Enum):
    """What EXPLAIN tells besides the plan."""

    ESTIMATED_COST = 0
    CHANGELOG_MODE = 1
    JSON_EXECUTION_PLAN = 2
    PLAN_ADVICE = 3
