"""Interfaces of connectors that look up rows by key, for lookup joins.

Queries use it with ``JOIN customers FOR SYSTEM_TIME AS OF o.proc_time AS c ON o.customer = c.id``. The connector's factory derives from
:class:`LookupTableFactory`; caches, retries and hints are implemented by the engine.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from wiesel.core.config import ConfigOption
from wiesel.core.durations import Duration
from wiesel.core.errors import ConfigurationError
from wiesel.spi.table.factory import TableContext, TableOptions

__all__ = ["AsyncTableLookup", "LookupCache", "LookupTableFactory", "LookupTableSource", "TableLookup"]

Key = tuple[Any, ...]
"""A value per column of the key, never None."""

LookedUp = tuple[Any, ...]
"""A row: a value per stored column of the table, in order."""

CACHE = ConfigOption[str]("lookup.cache", "enum", "NONE", "Cache of lookups.", choices=("NONE", "PARTIAL", "FULL"))
MAX_RETRIES = ConfigOption[int]("lookup.max-retries", "int", 3, "Number of retries of a failed lookup.", minimum=0)
MAX_ROWS = ConfigOption[int]("lookup.partial-cache.max-rows", "int", None, "Maximal number of cached rows.", minimum=1)
AFTER_WRITE = ConfigOption[Duration](
    "lookup.partial-cache.expire-after-write", "duration", None, "Expiry of a key after its lookup."
)
AFTER_ACCESS = ConfigOption[Duration](
    "lookup.partial-cache.expire-after-access", "duration", None, "Expiry of a key after its last access."
)
MISSING = ConfigOption[bool]("lookup.partial-cache.cache-missing-key", "bool", True, "Whether keys without a row are cached, too.")
RELOAD = ConfigOption[Duration](
    "lookup.full-cache.periodic-reload.interval", "duration", None, "Interval of reloading the whole table."
)


class TableLookup(ABC):
    """Looks up rows synchronously. Shipped to the tasks, each with its own instance; connections are opened in :meth:`open`."""

    most_keys: int = 1_000
    """Maximal number of keys per call."""

    def open(self) -> None:  # noqa: B027 - most need it, some do not
        """Initialise; called once before the first lookup."""

    @abstractmethod
    def lookup(self, keys: Sequence[Key]) -> Sequence[Iterable[LookedUp]]:
        """Return the rows of several distinct keys; an exception fails the job when retries are exhausted."""

    def close(self) -> None:  # noqa: B027 - most need it, some do not
        """Release all resources."""


class AsyncTableLookup(ABC):
    """Looks up rows asynchronously. All calls run in one event loop, in a separate thread of the task."""

    most_keys: int = 1
    """Maximal number of keys per call."""

    async def open(self) -> None:  # noqa: B027 - most need it, some do not
        """Initialise; called once in the event loop before the first lookup."""

    @abstractmethod
    async def lookup(self, keys: Sequence[Key]) -> Sequence[Iterable[LookedUp]]:
        """Return the rows of several distinct keys; an exception fails the job when retries are exhausted."""


@dataclass(frozen=True)
class LookupCache:
    """Cache settings of lookups.

    Attributes:
        kind: ``NONE``, ``PARTIAL`` (accessed keys) or ``FULL`` (the whole table).
        max_rows: Maximal number of cached rows (a key without rows counts as one); None for no limit. Eviction is LRU.
        expire_after_write_ms: Expiry of a key after its lookup; None for never.
        expire_after_access_ms: Expiry of a key after its last access; None for never.
        caches_missing: Cache keys without rows.
        reload_ms: Interval of reloading the whole table.
    """

    kind: str = "NONE"
    max_rows: int | None = None
    expire_after_write_ms: int | None = None
    expire_after_access_ms: int | None = None
    caches_missing: bool = True
    reload_ms: int = 0

    @staticmethod
    def of(options: TableOptions) -> LookupCache:
        """Return the settings in the options of a table, by Flink's names (``lookup.cache``, ``lookup.partial-cache.max-rows``, ...).

        Raises:
            ConfigurationError: If they contradict each other, or a value cannot be parsed.
        """
        kind = options.get(CACHE)
        partial = [option for option in (MAX_ROWS, AFTER_WRITE, AFTER_ACCESS, MISSING) if options.is_set(option)]
        rows, missing, reload = options.get(MAX_ROWS), options.get(MISSING), options.get(RELOAD)
        limited = options.is_set(MAX_ROWS) or options.is_set(AFTER_WRITE) or options.is_set(AFTER_ACCESS)
        written, accessed = options.get(AFTER_WRITE), options.get(AFTER_ACCESS)
        if partial and kind != "PARTIAL":
            raise ConfigurationError(f"'{partial[0].key}' is for 'lookup.cache' = 'PARTIAL'", hint="set both, or none of them")
        if kind == "PARTIAL" and not limited:
            raise ConfigurationError(
                "a partial cache needs a limit", hint=f"set '{MAX_ROWS.key}', '{AFTER_WRITE.key}' or '{AFTER_ACCESS.key}'"
            )
        if (kind == "FULL") != options.is_set(RELOAD):
            raise ConfigurationError(f"'lookup.cache' = 'FULL' goes with '{RELOAD.key}'", hint="set both, or none of them")
        return LookupCache(kind, rows, _ms(written), _ms(accessed), missing, _ms(reload) or 0)


def _ms(duration: Any) -> int | None:
    return None if duration is None else duration.to_millis()


@dataclass(frozen=True)
class LookupTableSource:
    """Lookup functions of a table: synchronous, asynchronous or both. With both, ``async`` of the hint LOOKUP selects one.

    Attributes:
        lookup: The synchronous lookup.
        asynchronous: The asynchronous lookup.
        cache: The cache settings.
        load: Returns all rows of the table, for ``lookup.cache`` = ``FULL``; shipped to the tasks.
        max_retries: Number of retries of a failed lookup.
        retry_delay_ms: The delay before the n-th retry is n times this.
    """

    lookup: TableLookup | None = None
    asynchronous: AsyncTableLookup | None = None
    cache: LookupCache = field(default_factory=LookupCache)
    load: Callable[[], Iterable[LookedUp]] | None = None
    max_retries: int = 0
    retry_delay_ms: int = 1_000


class LookupTableFactory(ABC):
    """Creates lookups. A connector that also reads or writes whole tables implements those factories as well, in one class."""

    identifier: ClassVar[str]
    """Identifier of the connector in tables."""

    forward_options: ClassVar[frozenset[str]] = frozenset()
    """Options that may change without invalidating a compiled plan: a running plan uses the catalog's present values."""

    @abstractmethod
    def create_lookup(self, context: TableContext, keys: Sequence[str]) -> LookupTableSource:
        """Return the lookup of rows by these columns; called in the program, once for each join.

        Raises:
            ConfigurationError: If an option is missing, unknown or invalid.
            ProgramError: If the connector cannot look up rows by these columns.
        """
