"""The table connector ``datagen``: its options against real Flink (``tests/differential/record_table_api.py``), and its values."""

from __future__ import annotations

import datetime as dt
import json
import random
import time
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.differential import table_cases
from tests.unit.connectors.reading import World, read_with_restarts
from wiesel.common import Instant, Row
from wiesel.connectors.datagen.table import DataGenTableFactory
from wiesel.core.clock import ManualClock
from wiesel.core.errors import ConfigurationError, ProgramError, WieselError
from wiesel.spi.source import Boundedness, Source
from wiesel.spi.table.catalog import CatalogTable, ObjectIdentifier
from wiesel.spi.table.factory import ScanTableSource, TableContext
from wiesel.spi.table.schema import Schema
from wiesel.types.data_types import DataTypes
from wiesel.types.logical_conversion import to_type_info

GOLDENS = json.loads((Path(table_cases.__file__).parent / "goldens" / "table_api.json").read_text(encoding="utf-8"))
TABLES = table_cases.generated(DataTypes)
SUPPORTED = table_cases.supported(DataTypes)
NOW_MS = 1_700_000_000_123


def scan(columns: dict[str, Any], options: dict[str, Any], seed: int | None = None) -> ScanTableSource:
    """What the factory makes, by the way that tables go."""
    schema = Schema.new_builder().from_fields([*columns], [*columns.values()]).build().resolve()
    table = CatalogTable(schema, {"connector": "datagen", **{key: str(value) for key, value in options.items()}})
    rows: Any = to_type_info(schema.physical_row_type)
    return DataGenTableFactory(seed).create_source(TableContext(ObjectIdentifier("c", "d", "t"), table, rows))


def source(columns: dict[str, Any], options: dict[str, Any], seed: int | None = None) -> Source[Any]:
    return scan(columns, options, seed).source


@pytest.fixture
def seed() -> int:
    drawn = random.SystemRandom().getrandbits(64)
    print(f"seed {drawn}")
    return drawn


def values(data_type: Any, seed: int, count: int = 2000, **options: Any) -> list[Any]:
    """Generated values of one column ``a``; ``element__min`` is the option ``fields.a.element.min``."""
    fields = {f"fields.a.{key.replace('__', '.').replace('_', '-')}": value for key, value in options.items()}
    world = World(source({"a": data_type}, {"number-of-rows": count, "rows-per-second": 10**9, **fields}, seed), clock=ManualClock(NOW_MS))
    for _ in range(count):
        world.step(0)
        world.advance(1)
    world.close()
    rows = world.values()
    assert len(rows) == count and all(type(row) is Row and row._fields == ["a"] for row in rows)
    return [row[0] for row in rows]


# Options.


def test_every_case_was_recorded() -> None:
    assert set(GOLDENS["generated"]) == set(TABLES)
    assert set(GOLDENS["supported"]) == set(SUPPORTED)


@pytest.mark.parametrize("name", SUPPORTED)
def test_each_type_has_the_options_it_has_in_flink(name: str) -> None:
    data_type, kind = SUPPORTED[name]
    ends = {"fields.a.start": "1", "fields.a.end": "3"} if kind == "sequence" else {}
    with pytest.raises(ConfigurationError, match=r"unsupported options for 'datagen': ?") as caught:
        source({"a": data_type}, {"fields.a.kind": kind, **ends, "?": ""})
    assert caught.value.details["supported"] == GOLDENS["supported"][name]


# The schema itself is refused for these, before there is a source (tests/unit/table).
@pytest.mark.parametrize(
    "name", sorted(name for name, table in TABLES.items() if not table.rows and name not in ("unknown_type", "nulls_of_type_null"))
)
def test_what_flink_refuses_is_refused(name: str) -> None:
    assert "fails" in GOLDENS["generated"][name]
    with pytest.raises(WieselError) as caught:
        source(TABLES[name].columns, TABLES[name].options)
    assert caught.value.hint
    flinks = GOLDENS["generated"][name]["fails"][-1].partition("Unsupported options:")[2].partition("Supported options:")[0].split()
    if flinks and "there are no sequences" not in str(caught.value):
        assert caught.value.details["unsupported"] == flinks


INT, DECIMAL, STRING = DataTypes.INT(), DataTypes.DECIMAL(5, 2), DataTypes.STRING()


@pytest.mark.parametrize(
    ("data_type", "options", "problem"),
    [
        # Flink never ends, or emits nothing, for rates that are not positive, and takes the other ones for what they are not.
        (INT, {"rows-per-second": 0}, "rows-per-second: 0 is too small"),
        (INT, {"number-of-rows": -1}, "number-of-rows: -1 is too small"),
        (INT, {"scan.parallelism": -1}, "scan.parallelism: -1 is too small"),
        (INT, {"fields.a.null-rate": 1.5}, "null-rate: 1.5 is too large"),
        (INT, {"fields.a.null-rate": "nan"}, "null-rate: it is not a number"),
        (INT.not_null(), {"fields.a.null-rate": 0.5}, "null-rate: INT NOT NULL has no nulls"),
        (DataTypes.ARRAY(INT.not_null()), {"fields.a.element.null-rate": 0.5}, "element.null-rate: INT NOT NULL has no nulls"),
        (INT, {"fields.a.min": 5, "fields.a.max": 4}, "min: it is 5, which is greater than max, 4"),
        (DataTypes.TINYINT(), {"fields.a.max": 128}, "max: 128 is too large"),
        (DataTypes.BIGINT(), {"fields.a.min": -(2**63) - 1}, "min: -9223372036854775809 is too small"),
        (DataTypes.FLOAT(), {"fields.a.max": 1e39}, "max: 1e\\+39 is too large"),
        (DataTypes.DOUBLE(), {"fields.a.max": "inf"}, "max: it is inf"),
        (DataTypes.DOUBLE(), {"fields.a.min": "nan"}, "min: it is nan"),
        (DECIMAL, {"fields.a.min": 1000, "fields.a.max": 2000}, r"no DECIMAL\(5, 2\) is between 1000.0 and 2000.0"),
        (DECIMAL, {"fields.a.min": 0.001, "fields.a.max": 0.009}, r"no DECIMAL\(5, 2\) is between 0.001 and 0.009"),
        (STRING, {"fields.a.length": 0}, "length: 0 is too small"),
        (STRING, {"fields.a.length": 1, "fields.a.var-len": "true"}, "varying lengths are less than length, which is 1"),
        (DataTypes.ARRAY(INT), {"fields.a.length": -1}, "length: -1 is too small"),
        (INT, {"fields.a.kind": "sequence", "fields.a.start": 3, "fields.a.end": 1}, "start: it is 3, which is greater than end, 1"),
        (DataTypes.TINYINT(), {"fields.a.kind": "sequence", "fields.a.start": 120, "fields.a.end": 130}, "end: 130 is too large"),
        (DataTypes.DECIMAL(3, 2), {"fields.a.kind": "sequence", "fields.a.start": 1, "fields.a.end": 10}, "end: 10 is too large"),
        (DataTypes.FLOAT(), {"fields.a.kind": "sequence", "fields.a.start": 0, "fields.a.end": 2**24 + 1}, "end: 16777217 is too large"),
    ],
)  # fmt: skip
def test_what_flink_lets_pass_is_refused_too(data_type: Any, options: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem) as caught:
        source({"a": data_type}, options)
    assert caught.value.hint


def test_partitions_and_types_without_values() -> None:
    schema = Schema.new_builder().column("a", INT).build().resolve()
    rows: Any = to_type_info(schema.physical_row_type)
    with pytest.raises(ProgramError, match="have no partitions"):
        DataGenTableFactory().create_source(TableContext(ObjectIdentifier("c", "d", "t"), CatalogTable(schema, {}, ("a",)), rows))
    interval = Schema.new_builder().column("a", DataTypes.INTERVAL(DataTypes.DAY())).build().resolve()
    with pytest.raises(ProgramError, match=r"fields\.a: values of type INTERVAL DAY\(2\) cannot be generated"):
        DataGenTableFactory().create_source(TableContext(ObjectIdentifier("c", "d", "t"), CatalogTable(interval, {}), rows))


# Rows.


@pytest.mark.parametrize("parallelism", [1, 3])
@pytest.mark.parametrize("name", sorted(name for name, table in TABLES.items() if table.rows and name != "types_as_text"))
def test_rows_as_in_flink(name: str, parallelism: int) -> None:
    world = World(source(TABLES[name].columns, TABLES[name].options), parallelism)
    for _ in range(1000):
        for i in range(parallelism):
            world.step(i)
        world.advance(1)
    assert all(reader.ended for reader in world.readers)
    assert sorted(map(repr, world.values())) == GOLDENS["generated"][name]
    world.close()


def test_what_bounds_a_table() -> None:
    numbers = {"a": DataTypes.BIGINT(), "b": INT}
    ends = {"fields.a.kind": "sequence", "fields.a.start": 0, "fields.a.end": 9}
    assert source(numbers, {}).boundedness is Boundedness.CONTINUOUS_UNBOUNDED
    assert source(numbers, ends).boundedness is Boundedness.BOUNDED
    assert source(numbers, {"number-of-rows": 5}).boundedness is Boundedness.BOUNDED
    assert scan(numbers, {}).parallelism is None and scan(numbers, {"scan.parallelism": 2}).parallelism == 2


def test_a_sequence_is_dealt_to_the_readers_in_turn() -> None:
    ends = {"fields.a.kind": "sequence", "fields.a.start": 10, "fields.a.end": 16}
    world = World(source({"a": INT}, ends), 3)
    for _ in range(20):
        for i in range(3):
            world.step(i)
        world.advance(100)
    assert [[row[0] for row in reader.values] for reader in world.readers] == [[10, 13, 16], [11, 14], [12, 15]]


# The first poll of a reader makes one row, as its rate limiter begins with one permit.
@pytest.mark.parametrize("every", [2, 5])
def test_a_restart_makes_the_same_rows_again(every: int, seed: int) -> None:
    columns = {"i": DataTypes.BIGINT(), "n": INT, "s": DataTypes.VARCHAR(20), "r": DataTypes.ARRAY(DataTypes.DOUBLE())}
    options = {
        "fields.i.kind": "sequence",
        "fields.i.start": 0,
        "fields.i.end": 19_999,
        "fields.n.null-rate": 0.1,
        "rows-per-second": 10**9,
    }
    quiet = World(source(columns, options, seed), 1, clock=RunningClock()).run()
    restarted = read_with_restarts(RestartedSource(source(columns, options, seed)), 2, every)
    assert [row[0] for row in quiet] == list(range(20_000))
    assert sorted(restarted, key=lambda row: row[0]) == quiet


class RunningClock(ManualClock):
    """A second later at each look, so that the rate never holds rows back."""

    def now_ms(self) -> int:
        self.set(super().now_ms() + 1000)
        return super().now_ms()


class RestartedSource(Source[Any]):
    """The source, with the clock of each reader running."""

    def __init__(self, inner: Source[Any]) -> None:
        self.inner = inner

    @property
    def boundedness(self) -> Boundedness:
        return self.inner.boundedness

    def create_enumerator(self, context: Any, state: Any | None = None) -> Any:
        return self.inner.create_enumerator(context, state)

    def create_reader(self, context: Any) -> Any:
        context.now_ms = RunningClock(0).now_ms
        return self.inner.create_reader(context)


def test_tables_without_a_seed_differ() -> None:
    columns, options = {"a": DataTypes.BIGINT()}, {"number-of-rows": 1}
    first, second = (World(source(columns, options)).run() for _ in range(2))
    assert first != second


def test_columns_differ_from_each_other(seed: int) -> None:
    numbers = DataTypes.ARRAY(DataTypes.BIGINT())
    rows = World(source({"a": DataTypes.BIGINT(), "b": DataTypes.BIGINT(), "c": numbers}, {"number-of-rows": 1}, seed)).run()
    [row] = rows
    assert len({row[0], row[1], *row[2]}) == 5


# Values.


@pytest.mark.parametrize(
    ("data_type", "least", "most"),
    [
        (DataTypes.TINYINT(), -(2**7), 2**7 - 1),
        (DataTypes.SMALLINT(), -(2**15), 2**15 - 1),
        (INT, -(2**31), 2**31 - 1),
        (DataTypes.BIGINT(), -(2**63), 2**63 - 1),
    ],
)
def test_whole_numbers_fill_their_type_or_their_bounds(data_type: Any, least: int, most: int, seed: int) -> None:
    made = values(data_type, seed)
    share = (most - least) // 50
    assert least <= min(made) < least + share and most - share < max(made) <= most
    assert set(values(data_type, seed, min=-3, max=5)) == set(range(-3, 6))
    assert set(values(data_type, seed, min=most)) == {most}


@pytest.mark.parametrize(("data_type", "most"), [(DataTypes.FLOAT(), 3.4028234663852886e38), (DataTypes.DOUBLE(), 1.7976931348623157e308)])
def test_floats_are_positive_by_default_and_keep_to_bounds(data_type: Any, most: float, seed: int) -> None:
    made = values(data_type, seed)
    assert all(0 < number <= most for number in made) and max(made) > most * 0.99
    made = values(data_type, seed, min=-1.5, max=2.5)
    assert -1.5 <= min(made) < -1.45 and 2.45 < max(made) <= 2.5
    made = values(data_type, seed, min=-most, max=most)
    # A hundredth of the numbers at either end: that 2000 have none of them happens once in 500 million.
    assert min(made) < -most * 0.98 and max(made) > most * 0.98
    assert set(values(data_type, seed, min=0.5, max=0.5)) == {0.5}


def test_floats_have_32_bits(seed: int) -> None:
    made = values(DataTypes.FLOAT(), seed)
    assert made == [float(np.float32(number)) for number in made]


@pytest.mark.parametrize(("precision", "scale"), [(5, 2), (1, 0), (2, 2), (18, 0), (19, 0), (38, 18), (38, 38)])
def test_decimals_fill_their_type(precision: int, scale: int, seed: int) -> None:
    largest = Decimal((0, (9,) * precision, -scale))
    made = values(DataTypes.DECIMAL(precision, scale), seed)
    assert all(0 <= number <= largest and number.as_tuple().exponent == -scale for number in made)
    assert max(made) > largest * Decimal("0.88")
    made = values(DataTypes.DECIMAL(precision, scale), seed, min=-1e40, max=1e40)
    assert -largest <= min(made) < -largest * Decimal("0.88") and max(made) > largest * Decimal("0.88")


def test_decimals_keep_to_bounds(seed: int) -> None:
    assert set(values(DECIMAL, seed, min="0.1", max="0.12")) == {Decimal("0.10"), Decimal("0.11"), Decimal("0.12")}
    assert set(values(DECIMAL, seed, min="-0.019", max="0")) == {Decimal("-0.01"), Decimal("0.00")}
    assert set(values(DECIMAL, seed, min="1", max="1")) == {Decimal("1.00")}


def test_texts_and_bytes_have_their_length(seed: int) -> None:
    for data_type, length in ((DataTypes.CHAR(3), 3), (DataTypes.VARCHAR(17), 17), (STRING, 100), (DataTypes.VARCHAR(2**31 - 1), 100)):
        made = values(data_type, seed, 100)
        assert {len(text) for text in made} == {length} and set("".join(made)) <= set("0123456789abcdef")
        assert len(set(made)) > 90
    for data_type, length in ((DataTypes.BINARY(3), 3), (DataTypes.VARBINARY(9), 9), (DataTypes.BYTES(), 100)):
        assert {(type(value), len(value)) for value in values(data_type, seed, 100)} == {(bytes, length)}
    assert {len(text) for text in values(STRING, seed, 100, length=7)} == {7}


def test_lengths_vary_below_the_length(seed: int) -> None:
    for data_type in (STRING, DataTypes.BYTES()):
        assert {len(value) for value in values(data_type, seed, length=6, var_len="true")} == {1, 2, 3, 4, 5}


def test_booleans_are_equally_often_true(seed: int) -> None:
    assert abs(sum(values(DataTypes.BOOLEAN(), seed)) - 1000) < 10 * 22.4, "ten standard deviations"


@pytest.mark.parametrize("rate", [0.0, 0.3, 1.0])
def test_null_rate(rate: float, seed: int) -> None:
    for data_type in (INT, STRING, DataTypes.TIMESTAMP(3), DataTypes.ARRAY(INT), DataTypes.ROW([DataTypes.FIELD("x", INT)])):
        nulls = sum(value is None for value in values(data_type, seed, null_rate=rate))
        assert abs(nulls - 2000 * rate) <= 10 * (2000 * rate * (1 - rate)) ** 0.5, "ten standard deviations"


def test_times_are_those_of_the_clock(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        # 2023-11-14T22:13:20.123Z is the next day in India.
        assert values(DataTypes.DATE(), seed, 1) == [dt.date(2023, 11, 15)]
        assert values(DataTypes.TIME(), seed, 1) == [dt.time(3, 43, 20, 123000)]
        assert values(DataTypes.TIMESTAMP(3), seed, 1) == [dt.datetime(2023, 11, 14, 22, 13, 20, 123000)]
        assert values(DataTypes.TIMESTAMP_LTZ(3), seed, 1) == [Instant.of_epoch_milli(NOW_MS)]
    finally:
        monkeypatch.undo()
        time.tzset()


def test_times_of_the_past(seed: int) -> None:
    made = values(DataTypes.TIMESTAMP_LTZ(3), seed, max_past="10 s")
    ages = [NOW_MS - instant.to_epoch_milli() for instant in made]
    # The clock has gone on by at most the time that the rows took.
    assert -2000 <= min(ages) < 100 and 9000 < max(ages) <= 10_000
    assert all(isinstance(stamp, dt.datetime) for stamp in values(DataTypes.TIMESTAMP(3), seed, 10, max_past="1 d"))


def test_values_made_of_values(seed: int) -> None:
    arrays = values(
        DataTypes.ARRAY(DataTypes.ARRAY(INT)), seed, 100, length=2, element__length=4, element__element__min=0, element__element__max=9
    )
    assert {(len(outer), *map(len, outer)) for outer in arrays} == {(2, 4, 4)}
    assert {number for outer in arrays for inner in outer for number in inner} == set(range(10))
    maps = values(DataTypes.MAP(STRING, INT), seed, 100, key__length=8, value__min=1, value__max=3)
    assert {len(entry) for entry in maps} == {3} and {value for entry in maps for value in entry.values()} == {1, 2, 3}
    bags = values(DataTypes.MULTISET(INT), seed, 500, element__min=0, element__max=1)
    counts = Counter(count for bag in bags for count in bag.values())
    assert {len(bag) for bag in bags} == {1, 2} and set(counts) == set(range(11))
    inner = DataTypes.ROW([DataTypes.FIELD("x", INT), DataTypes.FIELD("y", DataTypes.ROW([DataTypes.FIELD("z", DataTypes.DATE())]))])
    rows = values(inner, seed, 10, x__min=1, x__max=1)
    assert all(row.x == 1 and isinstance(row.y.z, dt.date) and row._fields == ["x", "y"] for row in rows)
    assert values(DataTypes.ARRAY(INT), seed, 2, length=0) == [[], []]
