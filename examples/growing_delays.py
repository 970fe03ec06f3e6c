"""CEP: airports where three departures in a row are each later than the one before, by a rule that ``--rule`` can replace."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from wiesel.cep import CEP, Pattern, PatternProcessFunction, TimedOutPartialMatchHandler
from wiesel.common import Duration, Types, WatermarkStrategy
from wiesel.common.watermark_strategy import TimestampAssigner
from wiesel.datastream import OutputTag, StreamExecutionEnvironment

RULE: dict[str, Any] = {
    "after_match_skip": "skip_past_last_event",
    "within": "3 h",
    "patterns": [
        {"name": "late", "where": "delay >= 15"},
        {"name": "later", "link": "next", "where": "delay > last(late.delay)"},
        {"name": "latest", "link": "next", "where": "delay > 2 * first(late.delay) and delay > last(later.delay)"},
    ],
}
NO_MORE = OutputTag("no more", Types.STRING())


class Departure(NamedTuple):
    """A departure; the minute of the day and the delay in minutes."""

    origin: str
    minute: int
    delay: int


DEPARTURES = [
    Departure("JFK", 480, 2),
    Departure("EWR", 482, 20),
    Departure("JFK", 490, 16),
    Departure("LGA", 493, 40),
    Departure("JFK", 503, 30),  # reported before the one of 8:20
    Departure("JFK", 500, 20),
    Departure("EWR", 510, 18),
    Departure("JFK", 512, 41),
    Departure("EWR", 530, 25),
    Departure("EWR", 541, 50),
    Departure("JFK", 555, 15),
    Departure("LGA", 700, 3),
]


class MinuteOfDeparture(TimestampAssigner):
    def extract_timestamp(self, value: Departure, record_timestamp: int) -> int:
        return value.minute * 60_000


class Alert(PatternProcessFunction, TimedOutPartialMatchHandler):
    """Tells of matches, and of late departures after which no other came in time."""

    def process_match(self, match: dict[str, list[Departure]], ctx: PatternProcessFunction.Context) -> Iterator[str]:
        flights = [flight for flights in match.values() for flight in flights]
        yield f"{flights[0].origin}: delays grow, {', '.join(str(f.delay) for f in flights)} minutes"

    def process_timed_out_match(self, match: dict[str, list[Departure]], ctx: PatternProcessFunction.Context) -> Iterator[Any]:
        yield NO_MORE, f"{match['late'][0].origin}: nothing more by {ctx.timestamp() // 3_600_000}:{ctx.timestamp() // 60_000 % 60:02}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rule", type=Path, help="a JSON file with another rule")
    rule = parser.parse_args().rule
    pattern = Pattern.from_dict(RULE if rule is None else json.loads(rule.read_text()))

    env = StreamExecutionEnvironment.get_execution_environment()
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_minutes(10)).with_timestamp_assigner(MinuteOfDeparture())
    departures = env.from_collection(DEPARTURES).assign_timestamps_and_watermarks(strategy)
    alerts = CEP.pattern(departures.key_by(lambda flight: flight.origin, Types.STRING()), pattern).process(Alert(), Types.STRING())
    alerts.print()
    alerts.get_side_output(NO_MORE).print()
    env.execute("growing delays")


if __name__ == "__main__":
    main()
