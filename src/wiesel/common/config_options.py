"""Options of a configuration."""

from wiesel.core.config import ConfigOption, ConfigOptions

__all__ = ["ConfigOption", "ConfigOptions"]
