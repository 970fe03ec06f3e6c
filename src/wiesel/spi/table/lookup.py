"""Interfaces of connectors that look up rows by key, for lookup joins.

A query asks for it with ``JOIN customers FOR SYSTEM_TIME AS OF o.proc_time AS c ON o.customer = c.id``. The connector's factory derives
from :class:`LookupTableFactory`; caches, retries and hints are the engine's.
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

CACHE = ConfigOption[str]("lookup.cache", "enum", "NONE", "What is remembered of lookups.", choices=("NONE", "PARTIAL", "FULL"))
MAX_RETRIES = ConfigOption[int]("lookup.max-retries", "int", 3, "How often a lookup that fails is tried again.", minimum=0)
MAX_ROWS = ConfigOption[int]("lookup.partial-cache.max-rows", "int", None, "How many rows the cache holds.", minimum=1)
AFTER_WRITE = ConfigOption[Duration](
    "lookup.partial-cache.expire-after-write", "duration", None, "How long a key is remembered after it was looked up."
)
AFTER_ACCESS = ConfigOption[Duration](
    "lookup.partial-cache.expire-after-access", "duration", None, "How long a key is remembered after it was last asked for."
)
MISSING = ConfigOption[bool]("lookup.partial-cache.cache-missing-key", "bool", True, "Whether keys without a row are remembered, too.")
RELOAD = ConfigOption[Duration](
    "lookup.full-cache.periodic-reload.interval", "duration", None, "How long after it was loaded the whole table is loaded again."
)


class TableLookup(ABC):
    """Looks rows up, and waits for them. It is sent to the tasks, where each has its own; connections are made in :meth:`open`."""

    most_keys: int = 1_000
    """Maximal number of keys per call."""

    def open(self) -> None:  # noqa: B027 - most need it, some do not
        """Get ready; called once before the first lookup."""

    @abstractmethod
    def lookup(self, keys: Sequence[Key]) -> Sequence[Iterable[LookedUp]]:
        """Return the rows of each of several different keys; an exception fails the job when retries are used up."""

    def close(self) -> None:  # noqa: B027 - most need it, some do not
        """Give everything back."""


class AsyncTableLookup(ABC):
    """Looks rows up while others are on their way. All calls run in one event loop, in a thread of the task's own."""

    most_keys: int = 1
    """Maximal number of keys per call."""

    async def open(self) -> None:  # noqa: B027 - most need it, some do not
        """Get ready; called once in the event loop before the first lookup."""

    @abstractmethod
    async def lookup(self, keys: Sequence[Key]) -> Sequence[Iterable[LookedUp]]:
        """Return the rows of each of several different keys; an exception fails the job when retries are used up."""


@dataclass(frozen=True)
class LookupCache:
    """Cache settings of lookups.

    Attributes:
        kind: ``NONE``, ``PARTIAL`` (keys that were asked for) or ``FULL`` (the whole table).
        max_rows: How many rows are remembered (a key without rows counts as one); None for no limit. Those not asked for longest go.
        expire_after_write_ms: How long a key is remembered after it was looked up; None for ever.
        expire_after_access_ms: How long a key is remembered after it was last asked for; None for ever.
        caches_missing: Whether keys without rows are remembered.
        reload_ms: How long after it was loaded the whole table is loaded again.
    """

    kind: str = "NONE"
    max_rows: int | None = None
    expire_after_write_ms: int | None = None
    expire_after_access_ms: int | None = None
    caches_missing: bool = True
    reload_ms: int = 0

    @staticmethod
    def of(options: TableOptions) -> LookupCache:
        """Return what the options of a table say, by Flink's names (``lookup.cache``, ``lookup.partial-cache.max-rows``, ...).

        Raises:
            ConfigurationError: If they contradict each other, or a value cannot be read.
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
        lookup: Waits for rows.
        asynchronous: Does not.
        cache: What is remembered.
        load: Returns all rows of the table, for ``lookup.cache`` = ``FULL``; it is sent to the tasks.
        max_retries: How often a lookup that raises an exception is tried again.
        retry_delay_ms: The time before the n-th of these attempts is n times this.
    """

    lookup: TableLookup | None = None
    asynchronous: AsyncTableLookup | None = None
    cache: LookupCache = field(default_factory=LookupCache)
    load: Callable[[], Iterable[LookedUp]] | None = None
    max_retries: int = 0
    retry_delay_ms: int = 1_000


class LookupTableFactory(ABC):
    """Makes what looks rows up. A connector that also reads or writes whole tables is a factory for these as well, in one class."""

    identifier: ClassVar[str]
    """Identifier of the connector in tables."""

    forward_options: ClassVar[frozenset[str]] = frozenset()
    """Options that may change without a compiled plan being another one: a plan that runs takes those that the catalog has by then."""

    @abstractmethod
    def create_lookup(self, context: TableContext, keys: Sequence[str]) -> LookupTableSource:
        """Return how rows are looked up by these columns; called in the program, once for each join.

        Raises:
            ConfigurationError: If an option is missing, unknown or has a value that it must not have.
            ProgramError: If the connector cannot look rows up by these columns.
        """
