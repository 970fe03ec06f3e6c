"""The queries of Nexmark against what real Flink answers."""

from __future__ import annotations

import csv
import datetime
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.differential import nexmark_data
from wiesel.common import Configuration
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.table import DataTypes, StreamTableEnvironment
from wiesel.table.udf import udf

GOLDENS = json.loads((Path(nexmark_data.__file__).parent / "goldens" / "nexmark.json").read_text(encoding="utf-8"))


def test_the_events_are_those_that_flink_has_seen(tmp_path: Path) -> None:
    events, _ = nexmark_data.make_events(tmp_path)
    assert nexmark_data.digest_of_events(events) == GOLDENS["events"]


TABLES = (nexmark_data.NEXMARK / "tables.sql").read_text()

_KINDS: dict[str, Callable[[str], Any]] = {"INT": int, "BIGINT": int, "STRING": str, "TIMESTAMP(3)": datetime.datetime.fromisoformat}


class Nexmark:
    """A table environment with the tables and views of Nexmark."""

    def __init__(self, events: Path, side: Path, parallelism: int) -> None:
        self.env = StreamExecutionEnvironment.get_execution_environment(Configuration().set("wiesel.engine", "local"))
        self.env.set_parallelism(parallelism)
        self.t_env = StreamTableEnvironment.create(self.env)
        for statement in TABLES.replace("${events}", str(events)).replace("${side}", str(side)).split(";"):
            if statement.strip():
                self.t_env.execute_sql(statement)
        count = udf(lambda text, letter: text.count(letter), result_type=DataTypes.BIGINT())
        self.t_env.create_temporary_function("count_char", count)

    def result(self, query: str) -> dict[str, int]:
        """Return the rows that are left of a query's changelog, as text, with how often each is there."""
        left: Counter[str] = Counter()
        with self.t_env.to_changelog_stream(self.t_env.sql_query(query)).execute_and_collect() as changes:
            for row in changes:
                left[str(tuple(row))] += 1 if row.get_row_kind().name in ("INSERT", "UPDATE_AFTER") else -1
        assert min(left.values()) >= 0
        return +left


def _columns() -> dict[str, str]:
    """Return the columns of the table of events, with their types."""
    return dict(re.findall(r"^  (\w+) ([A-Z]+(?:\(3\))?),$", TABLES, re.MULTILINE))


def _rows(path: Path, kinds: list[str]) -> list[list[Any]]:
    reads = [_KINDS[kind] for kind in kinds]
    with path.open(newline="") as file:
        return [[None if text == "" else read(text) for text, read in zip(row, reads, strict=True)] for row in csv.reader(file)]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return nexmark_data.make_events(tmp_path_factory.mktemp("nexmark"))


def query_of(name: str) -> str:
    return (nexmark_data.NEXMARK / "queries" / f"{name}.sql").read_text()


# Where rows are equal in all that a query orders by, the order of their arrival counts: hence one subtask.
ONE_SUBTASK = ("q18", "q19")


@pytest.mark.parametrize("name", nexmark_data.QUERIES)
def test_results_are_those_of_flink(name: str, files: tuple[Path, Path]) -> None:
    parallelism = 1 if name in ONE_SUBTASK else 2
    found = Nexmark(*files, parallelism).result(query_of(name))
    assert sum(found.values()) == GOLDENS[name]["rows"]
    assert set(GOLDENS[name]["some"]) <= found.keys()
    assert nexmark_data.digest_of(found) == GOLDENS[name]["digest"]


def test_winning_bids_are_those_by_definition(files: tuple[Path, Path]) -> None:
    """Flink sends updates of q9 without what they replace, so that its changelog alone does not tell what is left."""
    names = _columns()
    rows = [dict(zip(names, row, strict=True)) for path in files[0].iterdir() for row in _rows(path, list(names.values()))]
    auctions = {row["auction_id"]: row for row in rows if row["event_type"] == 1}
    best: dict[int, dict[str, Any]] = {}
    for bid in (row for row in rows if row["event_type"] == 2):
        auction = auctions.get(bid["bid_auction"])
        if auction is None or not auction["date_time"] <= bid["date_time"] <= auction["expires"]:
            continue
        known = best.get(bid["bid_auction"])
        if known is None or (-bid["price"], bid["date_time"]) < (-known["price"], known["date_time"]):
            best[bid["bid_auction"]] = bid
    of_auction = ("auction_id", "item_name", "description", "initial_bid", "reserve", "date_time", "expires", "seller", "category", "extra")
    of_bid = ("bid_auction", "bidder", "price", "date_time", "extra")
    expected = {str((*(auctions[key][name] for name in of_auction), *(bid[name] for name in of_bid))): 1 for key, bid in best.items()}
    assert Nexmark(*files, parallelism=1).result(query_of("q9")) == expected


@pytest.mark.parametrize("name", ["q4", "q5", "q7", "q11", "q15", "q16", "q17"])
def test_aggregates_are_those_of_flink(name: str, files: tuple[Path, Path]) -> None:
    found = Nexmark(*files, 2).result(query_of(name))
    assert sum(found.values()) == GOLDENS[name]["rows"]
    assert nexmark_data.digest_of(found) == GOLDENS[name]["digest"]
