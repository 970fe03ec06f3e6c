"""Settings of a table environment."""

from __future__ import annotations

from wiesel.core.config import Configuration
from wiesel.core.options import RUNTIME_MODE

__all__ = ["EnvironmentSettings"]


class EnvironmentSettings:
    """Settings of a :class:`~wiesel.table.TableEnvironment`, made by :meth:`new_instance` or one of the shortcuts.

    >>> EnvironmentSettings.in_batch_mode().is_streaming_mode()
    False
    """

    def __init__(self, configuration: Configuration, catalog: str, database: str) -> None:
        self._configuration = configuration
        self._catalog = catalog
        self._database = database

    def get_built_in_catalog_name(self) -> str:
        """Return the name of the catalog that is there from the beginning."""
        return self._catalog

    def get_built_in_database_name(self) -> str:
        """Return the name of its database."""
        return self._database

    def is_streaming_mode(self) -> bool:
        """Return whether queries are run as streams; in batch mode they return their last result only."""
        return self._configuration.get(RUNTIME_MODE) != "BATCH"

    def get_configuration(self) -> Configuration:
        """Return the configuration."""
        return self._configuration

    @staticmethod
    def new_instance() -> EnvironmentSettings.Builder:
        """Return a builder."""
        return EnvironmentSettings.Builder()

    @staticmethod
    def in_streaming_mode() -> EnvironmentSettings:
        """Return the settings of streaming mode, all else by default."""
        return EnvironmentSettings.new_instance().in_streaming_mode().build()

    @staticmethod
    def in_batch_mode() -> EnvironmentSettings:
        """Return the settings of batch mode, all else by default."""
        return EnvironmentSettings.new_instance().in_batch_mode().build()

    class Builder:
        """Builder of settings."""

        def __init__(self) -> None:
            self._configuration = Configuration()
            self._mode = "STREAMING"
            self._catalog = "default_catalog"
            self._database = "default_database"

        def with_configuration(self, config: Configuration) -> EnvironmentSettings.Builder:
            """Take over a configuration."""
            self._configuration = Configuration(config)
            if config.contains(RUNTIME_MODE):
                self._mode = str(config.get(RUNTIME_MODE))
            return self

        def in_batch_mode(self) -> EnvironmentSettings.Builder:
            """Run queries over bounded tables to their end, and return the last result only."""
            self._mode = "BATCH"
            return self

        def in_streaming_mode(self) -> EnvironmentSettings.Builder:
            """Run queries as streams, the default."""
            self._mode = "STREAMING"
            return self

        def with_built_in_catalog_name(self, built_in_catalog_name: str) -> EnvironmentSettings.Builder:
            """Name the catalog that is there from the beginning."""
            self._catalog = built_in_catalog_name
            return self

        def with_built_in_database_name(self, built_in_database_name: str) -> EnvironmentSettings.Builder:
            """Name its database."""
            self._database = built_in_database_name
            return self

        def build(self) -> EnvironmentSettings:
            """Return the settings."""
            configuration = Configuration(self._configuration).set(RUNTIME_MODE, self._mode)
            return EnvironmentSettings(configuration, self._catalog, self._database)
