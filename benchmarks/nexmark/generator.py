"""The events of Nexmark as CSV files: an auction house with people, auctions and bids, 1 : 3 : 46.

The benchmark is Tucker et al., "NEXMark - A Benchmark for Queries over Data Streams" (2008); shares, skew and sizes are those of the
suites of Apache Beam and Flink: half of the bids are for the newest hundredth auction, three quarters by the newest hundredth person;
prices are spread evenly over six powers of ten. The events are made by our own generator, from a seed, a column at a time. All events are
in one table, whose columns that belong to another kind of event are empty.

Usage: python generator.py FOLDER --events 1000000 [--files 2] [--seed 7] [--rate 10000]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv

PERSONS, AUCTIONS, BIDS = 1, 3, 46
PER_ROUND = PERSONS + AUCTIONS + BIDS
FIRST_ID = 1_000
FIRST_CATEGORY, CATEGORIES = 10, 5
ACTIVE_PEOPLE, IN_FLIGHT = 1_000, 100
HOT_EVERY = 100
BASE_MS = 1_767_225_600_000
"""2026-01-01 00:00:00 UTC."""

CHUNK = 100_000
STRIPE = 1_000
"""So many events in a row go to one file: readers of several files advance together in event time."""

STATES = ("AZ", "CA", "ID", "OR", "WA", "WY")
CITIES = ("Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland", "Bend", "Redmond", "Seattle", "Kent", "Cheyenne")
FIRST_NAMES = ("Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter")
LAST_NAMES = ("Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris")
HOT_CHANNELS = ("Google", "Facebook", "Baidu", "Apple")
CHANNELS = 10_000

SCHEMA = pa.schema(
    [
        ("event_type", pa.int32()),
        ("date_time", pa.timestamp("ms")),
        ("extra", pa.string()),
        ("person_id", pa.int64()),
        ("name", pa.string()),
        ("email", pa.string()),
        ("credit_card", pa.string()),
        ("city", pa.string()),
        ("state", pa.string()),
        ("auction_id", pa.int64()),
        ("item_name", pa.string()),
        ("description", pa.string()),
        ("initial_bid", pa.int64()),
        ("reserve", pa.int64()),
        ("expires", pa.timestamp("ms")),
        ("seller", pa.int64()),
        ("category", pa.int64()),
        ("bid_auction", pa.int64()),
        ("bidder", pa.int64()),
        ("price", pa.int64()),
        ("channel", pa.string()),
        ("url", pa.string()),
    ]
)


class Generator:
    """Makes events by their numbers; the same numbers and seed give the same events."""

    def __init__(self, seed: int, rate: int) -> None:
        self._seed = seed
        self._rate = rate
        self._letters = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz ", np.uint8)

    def events(self, start: int, end: int) -> pa.Table:
        """Return the events with the numbers ``start <= n < end``."""
        random = np.random.default_rng((self._seed, start))
        number = np.arange(start, end, dtype=np.int64)
        place = number % PER_ROUND
        kind = np.where(place < PERSONS, 0, np.where(place < PERSONS + AUCTIONS, 1, 2))
        time = BASE_MS + number * 1_000 // self._rate
        columns: dict[str, Any] = {"event_type": kind, "date_time": time, "extra": self._texts(random, len(number), 20, 60)}
        for which, make in enumerate((self._people, self._auctions, self._bids)):
            mask = kind == which
            for name, values in make(random, number[mask], time[mask]).items():
                columns[name] = _spread(values, mask)
        return pa.table({field.name: pa.array(columns[field.name]).cast(field.type) for field in SCHEMA}, schema=SCHEMA)

    def _people(self, random: Any, number: Any, time: Any) -> dict[str, Any]:
        n = len(number)
        first, last = random.integers(len(FIRST_NAMES), size=n), random.integers(len(LAST_NAMES), size=n)
        return {
            "person_id": FIRST_ID + number // PER_ROUND,
            "name": _joined(_pick(FIRST_NAMES, first), _pick(LAST_NAMES, last), separator=" "),
            "email": _joined(self._texts(random, n, 5, 9, spaces=False), self._texts(random, n, 5, 9, spaces=False), separator="@"),
            "credit_card": _joined(*(_digits(random, n) for _ in range(4)), separator=" "),
            "city": _pick(CITIES, random.integers(len(CITIES), size=n)),
            "state": _pick(STATES, random.integers(len(STATES), size=n)),
        }

    def _auctions(self, random: Any, number: Any, time: Any) -> dict[str, Any]:
        n = len(number)
        initial = _price(random, n)
        return {
            "auction_id": FIRST_ID + number // PER_ROUND * AUCTIONS + number % PER_ROUND - PERSONS,
            "item_name": self._texts(random, n, 10, 20),
            "description": self._texts(random, n, 60, 100),
            "initial_bid": initial,
            "reserve": initial + _price(random, n),
            "expires": time + 1 + random.integers(2 * IN_FLIGHT * PER_ROUND * 1_000 // AUCTIONS // self._rate, size=n),
            "seller": self._person(random, number, hot_share=0.75),
            "category": FIRST_CATEGORY + random.integers(CATEGORIES, size=n),
        }

    def _bids(self, random: Any, number: Any, time: Any) -> dict[str, Any]:
        n = len(number)
        last = number // PER_ROUND * AUCTIONS + AUCTIONS - 1
        hot = random.random(n) < 0.5
        usual = np.maximum(last - random.integers(IN_FLIGHT, size=n), 0)
        channel = random.integers(CHANNELS, size=n)
        at_hot_channel = random.random(n) < 0.5
        site = random.integers(len(HOT_CHANNELS), size=n)
        path = _joined(*(self._texts(random, n, 3, 6, spaces=False) for _ in range(3)), separator="/")
        url = pc.binary_join_element_wise("https://www.nexmark.com/", path, "/item.htm?query=1", "")
        with_channel = pc.binary_join_element_wise(url, "&channel_id=", pa.array(channel).cast(pa.string()), "")
        named = pc.binary_join_element_wise("channel-", pa.array(channel).cast(pa.string()), "")
        return {
            "bid_auction": FIRST_ID + np.where(hot, last // HOT_EVERY * HOT_EVERY, usual),
            "bidder": self._person(random, number, hot_share=0.75),
            "price": _price(random, n),
            "channel": pc.if_else(pa.array(at_hot_channel), _pick(HOT_CHANNELS, site), named),
            # One in ten of the others tells no channel at all.
            "url": pc.if_else(pa.array(at_hot_channel | (random.random(n) < 0.1)), url, with_channel),
        }

    def _person(self, random: Any, number: Any, *, hot_share: float) -> Any:
        last = number // PER_ROUND
        usual = np.maximum(last - random.integers(ACTIVE_PEOPLE, size=len(number)), 0)
        return FIRST_ID + np.where(random.random(len(number)) < hot_share, last // HOT_EVERY * HOT_EVERY, usual)

    def _texts(self, random: Any, n: int, least: int, most: int, *, spaces: bool = True) -> pa.Array:
        lengths = random.integers(least, most + 1, size=n)
        ends = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
        letters = self._letters[random.integers(len(self._letters) - (not spaces), size=int(ends[-1]))]
        # A space at either end of a text could be lost on its way through CSV.
        letters[ends[:-1]] = letters[ends[1:] - 1] = ord("x")
        return pa.StringArray.from_buffers(n, pa.py_buffer(ends), pa.py_buffer(letters.tobytes()))


def _price(random: Any, n: int) -> Any:
    return np.round(10.0 ** (random.random(n) * 6) * 100).astype(np.int64)


def _digits(random: Any, n: int) -> pa.Array:
    return pa.array(random.integers(1_000, 10_000, size=n)).cast(pa.string())


def _pick(words: tuple[str, ...], places: Any) -> pa.Array:
    return pa.array(words).take(pa.array(places))


def _joined(*parts: Any, separator: str) -> pa.Array:
    return pc.binary_join_element_wise(*parts, separator)


def _spread(values: Any, mask: Any) -> pa.Array:
    """Put values at the places of a mask; NULL at the others."""
    places = np.cumsum(mask) - 1
    return pa.array(values).take(pa.array(places, mask=~mask))


def chunks(generator: Generator, events: int) -> Iterator[pa.Table]:
    """Yield all events in order."""
    for start in range(0, events, CHUNK):
        yield generator.events(start, min(start + CHUNK, events))


def write(folder: Path, events: int, files: int, seed: int, rate: int) -> None:
    """Write the events to CSV files without a header; stripes of them go to the files in turn."""
    folder.mkdir(parents=True)
    options = csv.WriteOptions(include_header=False, quoting_style="needed")
    writers = [csv.CSVWriter(str(folder / f"events-{n}.csv"), SCHEMA, write_options=options) for n in range(files)]
    for table in chunks(Generator(seed, rate), events):
        for at in range(0, len(table), STRIPE):
            writers[at // STRIPE % files].write_table(table.slice(at, STRIPE))
    for writer in writers:
        writer.close()


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--files", type=int, default=2)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--rate", type=int, default=10_000, help="events per second of event time")
    options = parser.parse_args()
    write(options.folder, options.events, options.files, options.seed, options.rate)


if __name__ == "__main__":
    main()
