"""What a reader of the output files sees: the lines of the visible files, and tables made of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

AIRPORTS = {"EWR": "Newark", "JFK": "Kennedy", "LGA": "LaGuardia"}
AIRLINES = {
    "9E": "Endeavor",
    "AA": "American",
    "AS": "Alaska",
    "B6": "JetBlue",
    "DL": "Delta",
    "EV": "ExpressJet",
    "F9": "Frontier",
    "FL": "AirTran",
    "HA": "Hawaiian",
    "MQ": "Envoy",
    "OO": "SkyWest",
    "UA": "United",
    "US": "US Airways",
    "VX": "Virgin America",
    "WN": "Southwest",
    "YV": "Mesa",
}
_ROWS = 8
_BUSY_HOUR_FLIGHTS = 10


def lines(directory: Path) -> Iterator[str]:
    """Yield the lines of all visible files: names that begin with a dot or underscore are not (yet) part of the result."""
    for path in sorted(directory.rglob("*")):
        if path.is_file() and not any(part.startswith((".", "_")) for part in path.relative_to(directory).parts):
            with path.open(encoding="utf-8") as file:
                yield from (line.rstrip("\n") for line in file)


def multiset(directory: Path) -> Counter[str]:
    """Return the lines with how often each is there."""
    return Counter(lines(directory))


def records(directory: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines(directory)]


def print_report(console: Console, output: Path, total: int) -> None:
    """Print the tables.

    Args:
        console: Where to.
        output: Directory with the results of ``examples.flights.job.write``.
        total: Records read, for the share of the late ones.
    """
    hours, build_ups, late = (records(output / name) for name in ("hours", "build_ups", "late"))
    console.print()
    console.print(airports_table(hours))
    console.print(worst_hours_table(hours))
    console.print(build_ups_table(build_ups))
    longest = max((r["reported_after_min"] for r in late), default=0)
    share = 1000 * len(late) / max(1, total)
    console.print(
        f"{len(late):,} of {total:,} reports ({share:.1f} per mille) came too late and went to a file of their own, "
        f"the last {longest // 60} h {longest % 60} min after its departure.",
        highlight=False,
    )


def airports_table(hours: Iterable[dict[str, Any]]) -> Table:
    table = _table("Departures from New York", ["airport", "flights", "cancelled", "mean delay", "> 15 min late", "worst delay"])
    by_airport: dict[str, list[dict[str, Any]]] = {}
    for hour in hours:
        by_airport.setdefault(hour["airport"], []).append(hour)
    for airport, rows in sorted(by_airport.items()):
        flown = [r for r in rows if r["flights"]]
        flights = sum(r["flights"] for r in flown) or 1
        mean = sum(r["mean_delay_min"] * r["flights"] for r in flown) / flights
        delayed = sum(r["delayed_share"] * r["flights"] for r in flown) / flights
        worst = max((r["max_delay_min"] for r in flown), default=0)
        cancelled = sum(r["cancelled"] for r in rows)
        table.add_row(_airport(airport), f"{flights:,}", f"{cancelled:,}", f"{mean:.1f} min", f"{delayed:.0%}", _duration(worst))
    return table


def worst_hours_table(hours: Iterable[dict[str, Any]]) -> Table:
    title = f"Worst hours with at least {_BUSY_HOUR_FLIGHTS} departures"
    table = _table(title, ["airport", "hour", "flights", "cancelled", "mean delay", "> 15 min late", "worst delay"])
    busy = [h for h in hours if h["flights"] >= _BUSY_HOUR_FLIGHTS]
    for h in sorted(busy, key=lambda h: (-h["mean_delay_min"], h["hour"]))[:_ROWS]:
        table.add_row(
            _airport(h["airport"]),
            _when(h["hour"]),
            str(h["flights"]),
            str(h["cancelled"]),
            _duration(round(h["mean_delay_min"])),
            f"{h['delayed_share']:.0%}",
            _duration(h["max_delay_min"]),
        )
    return table


def build_ups_table(build_ups: Iterable[dict[str, Any]]) -> Table:
    headings = ["aircraft", "airline", "from", "legs", "delays in minutes", "route"]
    table = _table("Aircraft whose delays built up over the most legs", headings)
    longest: dict[tuple[str, str], dict[str, Any]] = {}
    for b in build_ups:
        key = (b["aircraft"], b["since"])
        if key not in longest or len(b["legs"]) > len(longest[key]["legs"]):
            longest[key] = b
    ranked = sorted(longest.values(), key=lambda b: (-len(b["legs"]), -b["delays_min"][-1], b["aircraft"]))
    for b in ranked[:_ROWS]:
        delays = " > ".join(map(str, b["delays_min"]))
        airline = AIRLINES.get(b["carrier"], b["carrier"])
        table.add_row(b["aircraft"], airline, _when(b["since"]), str(len(b["legs"])), delays, " ".join(b["legs"]))
    table.caption = f"{len(longest):,} build-ups of three or more legs in all"
    return table


def _table(title: str, headings: list[str]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", caption_justify="left")
    for heading in headings:
        text = heading in ("airport", "aircraft", "airline", "hour", "from", "delays in minutes", "route")
        table.add_column(heading, justify="left" if text else "right", no_wrap=heading != "route")
    return table


def _airport(code: str) -> str:
    return f"{AIRPORTS.get(code, '?')} ({code})"


def _when(iso: str) -> str:
    return datetime.fromisoformat(iso).strftime("%a %d %b %H:%M")


def _duration(minutes: int) -> str:
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60:02} min"
