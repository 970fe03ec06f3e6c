"""When a task may be scheduled: kept for programs that name it; all tasks of a streaming job start together."""

from enum import Enum

__all__ = ["InputDependencyConstraint"]


class InputDependencyConstraint(Enum):
    """Whether any or all inputs must be ready."""

    ANY = 0
    ALL = 1
