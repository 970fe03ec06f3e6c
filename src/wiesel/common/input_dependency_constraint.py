"""Input dependency constraints, for programs that set them; all tasks of a streaming job start together."""

from enum import Enum

__all__ = ["InputDependencyConstraint"]


class InputDependencyConstraint(Enum):
    """Requires any or all inputs to be ready."""

    ANY = 0
    ALL = 1
