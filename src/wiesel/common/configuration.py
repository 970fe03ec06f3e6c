"""The configuration of an environment."""

from wiesel.core.config import Configuration

__all__ = ["Configuration"]
