"""The options of a table environment."""

from __future__ import annotations

import datetime
import zoneinfo
from typing import Any

from wiesel.core.config import Configuration
from wiesel.core.durations import parse_duration
from wiesel.core.errors import ArgumentTypeError
from wiesel.core.user_location import program_error
from wiesel.sql.language.parser import DEFAULT_DIALECT, DIALECT_OPTION, HIVE_DIALECT
from wiesel.table.sql_dialect import SqlDialect

__all__ = ["TableConfig"]

_ZONE = "table.local-time-zone"
_PYTHON = "python.executable"
_IDLE = "table.exec.state.ttl"


class TableConfig:
    """Options, by key or by methods; they count for the statements that come after.

    Args:
        configuration: Where they are kept; a new one by default.
    """

    def __init__(self, configuration: Configuration | None = None) -> None:
        self._configuration = Configuration() if configuration is None else configuration

    @staticmethod
    def get_default() -> TableConfig:
        """Return options that have their defaults."""
        return TableConfig()

    def get(self, key: str, default_value: str) -> str:
        """Return the value of a key, or the default given."""
        return self._configuration.get_string(key, default_value)

    def set(self, key: str, value: str) -> TableConfig:
        """Set the value of a key."""
        self._configuration.set(key, value)
        return self

    def get_local_timezone(self) -> str:
        """Return the time zone in which TIMESTAMP_LTZ is shown and computed with; that of the system if none was set is UTC here."""
        zone = self.get(_ZONE, "default")
        return "UTC" if zone == "default" else zone

    def set_local_timezone(self, timezone_id: str) -> None:
        """Set the time zone of the session, such as ``Europe/Vienna``.

        Raises:
            ProgramError: If there is no such zone.
        """
        try:
            zoneinfo.ZoneInfo(timezone_id)
        except (zoneinfo.ZoneInfoNotFoundError, ValueError, TypeError, IsADirectoryError):
            raise program_error(f"there is no time zone {timezone_id!r}", "give a name such as 'Europe/Vienna' or 'UTC'") from None
        self.set(_ZONE, timezone_id)

    def set_idle_state_retention(self, duration: datetime.timedelta) -> None:
        """Set how long state is kept that is not used; zero for ever."""
        self.set(_IDLE, f"{round(duration.total_seconds() * 1000)} ms")

    def get_idle_state_retention(self) -> datetime.timedelta:
        """Return how long state is kept that is not used; zero for ever."""
        return datetime.timedelta(milliseconds=parse_duration(self.get(_IDLE, "0 ms")).to_millis())

    def get_sql_dialect(self) -> int:
        """Return the language of statements: ``SqlDialect.DEFAULT`` or ``SqlDialect.HIVE``."""
        return SqlDialect.HIVE if self.get(DIALECT_OPTION, DEFAULT_DIALECT).lower() == HIVE_DIALECT else SqlDialect.DEFAULT

    def set_sql_dialect(self, sql_dialect: int) -> None:
        """Set the language of statements.

        Raises:
            ProgramError: If it is none of :class:`SqlDialect`.
        """
        if sql_dialect not in (SqlDialect.DEFAULT, SqlDialect.HIVE):
            raise program_error(f"there is no dialect {sql_dialect!r}", "give SqlDialect.DEFAULT or SqlDialect.HIVE", ArgumentTypeError)
        self.set(DIALECT_OPTION, HIVE_DIALECT if sql_dialect == SqlDialect.HIVE else DEFAULT_DIALECT)

    def set_python_executable(self, python_exec: str) -> None:
        """Set the interpreter of the workers."""
        self.set(_PYTHON, python_exec)

    def get_python_executable(self) -> str:
        """Return the interpreter of the workers; an empty text if none was set."""
        return self.get(_PYTHON, "")

    def get_configuration(self) -> Configuration:
        """Return where the options are kept."""
        return self._configuration

    def add_configuration(self, configuration: Configuration) -> None:
        """Take over all values of another configuration."""
        self._configuration.add_all(configuration)

    def to_map(self) -> dict[str, Any]:
        """Return all keys that were set with their values."""
        return self._configuration.to_dict()
