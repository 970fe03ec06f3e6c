"""A connector whose tables are looked up by key: ``people``, as another package would bring it. What it is asked is written down."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from wiesel.core.config import ConfigOption
from wiesel.spi.table.factory import TableContext, TableOptions
from wiesel.spi.table.lookup import AsyncTableLookup, LookupCache, LookupTableFactory, LookupTableSource, TableLookup

__all__ = ["ASKED", "FAILURES", "PEOPLE", "WAYS", "PeopleFactory", "forget"]

PEOPLE: list[tuple[str, int | None, str]] = []
ASKED: list[list[tuple[Any, ...]]] = []
"""The keys of each lookup."""

WAYS: set[str] = set()
"""In which ways."""

FAILURES: list[Exception] = []
"""What the next lookups raise."""

COLUMNS = ("name", "age", "city")
WAY = ConfigOption[str]("way", "enum", "SYNC", "How it is looked up.", choices=("SYNC", "ASYNC", "BOTH"))
RETRIES = ConfigOption[int]("lookup.max-retries", "int", 0, "How often.")
SLOW = "slow"
"""A name that takes longer than others."""


def forget() -> None:
    """Start as at the beginning."""
    PEOPLE[:] = [("ann", 31, "Rome"), ("bob", None, "Oslo"), ("cid", 25, "Rome"), ("cid", 26, "Bern"), (SLOW, 1, "Lima")]
    ASKED.clear()
    WAYS.clear()
    FAILURES.clear()


def found(way: str, columns: Sequence[str], keys: Sequence[tuple[Any, ...]]) -> list[list[tuple[Any, ...]]]:
    from tests.unit.table import lookup_tables as here  # what is sent to a task has copies of this module's lists

    here.ASKED.append(list(keys))
    here.WAYS.add(way)
    if here.FAILURES:
        raise here.FAILURES.pop(0)
    places = [COLUMNS.index(column) for column in columns]
    return [[row for row in here.PEOPLE if tuple(row[place] for place in places) == key] for key in keys]


def everybody() -> list[tuple[Any, ...]]:
    from tests.unit.table import lookup_tables as here

    here.ASKED.append([])
    return list(here.PEOPLE)


class People(TableLookup):
    most_keys = 2

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = columns
        self.is_open = False

    def open(self) -> None:
        self.is_open = True

    def lookup(self, keys: Sequence[tuple[Any, ...]]) -> Sequence[Iterable[tuple[Any, ...]]]:
        assert self.is_open
        return found("sync", self.columns, keys)


class AsyncPeople(AsyncTableLookup):
    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = columns
        self.opened = 0

    async def open(self) -> None:
        await asyncio.sleep(0)
        self.opened += 1

    async def lookup(self, keys: Sequence[tuple[Any, ...]]) -> Sequence[Iterable[tuple[Any, ...]]]:
        assert self.opened == 1 and len(keys) == 1
        results = found("async", self.columns, keys)
        await asyncio.sleep(5 if keys[0][0] == SLOW else 0.001)
        return results


class PeopleFactory(LookupTableFactory):
    identifier = "people"

    def create_lookup(self, context: TableContext, keys: Sequence[str]) -> LookupTableSource:
        options = TableOptions(self.identifier, context.table.options)
        cache, way, retries = LookupCache.of(options), options.get(WAY), options.get(RETRIES)
        options.refuse_unknown()
        return LookupTableSource(
            lookup=People(keys) if way != "ASYNC" else None,
            asynchronous=AsyncPeople(keys) if way != "SYNC" else None,
            cache=cache,
            load=everybody,
            max_retries=retries,
            retry_delay_ms=1,
        )
