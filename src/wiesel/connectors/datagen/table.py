"""Internal. The table connector ``datagen``: rows of random values and sequences, with Flink's options."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

import numpy as np

from wiesel.connectors.datagen.columns import (
    ArrayColumn,
    BooleanColumn,
    BytesColumn,
    BytesSequence,
    Column,
    DateColumn,
    DecimalColumn,
    DecimalSequence,
    FloatColumn,
    FloatSequence,
    InstantColumn,
    IntegerColumn,
    IntegerSequence,
    MapColumn,
    NullableColumn,
    RowColumn,
    Rows,
    TextColumn,
    TextSequence,
    TimeColumn,
    TimestampColumn,
)
from wiesel.connectors.datagen.indexed_random import derived_seed
from wiesel.connectors.datagen.source import BatchGeneratorFunction, DataGeneratorSource, RateLimiterStrategy
from wiesel.connectors.index_ranges import IndexRange, interleaved_ranges
from wiesel.core.config import ConfigOption
from wiesel.core.durations import Duration
from wiesel.core.errors import ConfigurationError, ProgramError
from wiesel.spi.source import SourceReaderContext
from wiesel.spi.table.factory import ScanTableSource, TableContext, TableOptions, TableSourceFactory
from wiesel.types.logical import (
    MAX_LENGTH,
    ArrayType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegralType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    RowType,
    TimestampType,
    TimeType,
    VarBinaryType,
    VarCharType,
)
from wiesel.types.typeinfo import RowTypeInfo

__all__ = ["DataGenTableFactory"]

_ROWS_PER_SECOND = ConfigOption[int]("rows-per-second", "int", 10_000, "Rows made each second by all readers together.", minimum=1)
_NUMBER_OF_ROWS = ConfigOption[int](
    "number-of-rows", "int", None, "How many rows; endless where neither it nor a sequence ends them.", minimum=0
)
_PARALLELISM = ConfigOption[int]("scan.parallelism", "int", None, "How many readers; the environment's parallelism by default.", minimum=1)

_DEFAULT_LENGTH = 100
"""The length of strings and bytes whose type sets no bound."""

_DEFAULT_ELEMENTS = 3
_MULTISET_MOST = 10
_LONG_MIN, _LONG_MAX = -(2**63), 2**63 - 1
_FLOAT_MIN, _FLOAT_MAX = 2.0**-149, (2 - 2.0**-23) * 2.0**127
_DOUBLE_MIN, _DOUBLE_MAX = 2.0**-1074, (2 - 2.0**-52) * 2.0**1023


class DataGenTableFactory(TableSourceFactory):
    """Creates the source of a ``datagen`` table.

    Args:
        seed: Seed of the random values; None for a different one per source.
    """

    identifier = "datagen"

    def __init__(self, seed: int | None = None) -> None:
        self._seed = seed

    def create_source(self, context: TableContext) -> ScanTableSource:
        """Return the source; its options are those of the connector and those of its fields."""
        options = TableOptions(self.identifier, context.table.options)
        if context.table.partition_keys:
            raise ProgramError("generated tables have no partitions", hint="leave partitioned_by() out")
        per_second, parallelism = options.get(_ROWS_PER_SECOND), options.get(_PARALLELISM)
        fields = _Fields(options, secrets.randbits(64) if self._seed is None else self._seed)
        columns = tuple(fields.column(field.name, field.data_type) for field in context.table.schema.physical_row_type)
        count = fields.count(options.get(_NUMBER_OF_ROWS))
        options.refuse_unknown()
        rows = RowColumn(context.row_type.get_field_names(), columns)
        return ScanTableSource(_RowSource(rows, count, per_second, context.row_type), parallelism)


class _RowSource(DataGeneratorSource):
    """Rows with the indexes 0, 1, 2, ... distributed round-robin to the readers, as Flink distributes sequences."""

    def __init__(self, rows: RowColumn, count: int | None, per_second: int, row_type: RowTypeInfo) -> None:
        super().__init__(_RowFunction(rows), count, RateLimiterStrategy.per_second(per_second), row_type)

    def first_splits(self, parallelism: int) -> list[IndexRange]:
        return interleaved_ranges(parallelism, self._count)


class _RowFunction(BatchGeneratorFunction):
    def __init__(self, rows: RowColumn) -> None:
        self._rows = rows

    def open(self, context: SourceReaderContext) -> None:
        self._now_ms = context.now_ms

    def map_all(self, indexes: range) -> list[Any]:
        numbers = np.arange(indexes.start, indexes.stop, indexes.step, dtype=np.uint64)
        return self._rows.values(Rows(numbers, self._now_ms()))


class _Fields:
    """Creates columns from the options of fields; ``path`` is a field's name, or ``name.element`` and similar for its parts."""

    def __init__(self, options: TableOptions, seed: int) -> None:
        self._options = options
        self._seed = seed
        self._lengths: list[int] = []

    def count(self, number_of_rows: int | None) -> int | None:
        """Number of rows: the shortest sequence ends the table."""
        counts = [*self._lengths, *([] if number_of_rows is None else [number_of_rows])]
        return min(counts) if counts else None

    def column(self, name: str, data_type: DataType) -> Column:
        kind = self._get(name, "kind", "str", "random", "'random' or 'sequence'")
        if kind == "sequence":
            return self._sequence(name, data_type)
        if kind != "random":
            raise self._wrong(name, "kind", f"there is no kind {kind!r}", "use 'random' or 'sequence'")
        return self._random(name, data_type)

    # Options.

    def _get(self, path: str, key: str, option_type: Any, default: Any, description: str = "", **bounds: Any) -> Any:
        return self._options.get(ConfigOption(f"fields.{path}.{key}", option_type, default, description, **bounds))

    def _bounds(self, path: str, option_type: Any, low: Any, high: Any, least: Any, most: Any) -> tuple[Any, Any]:
        """The options ``min`` and ``max``, by default ``low`` and ``high``; both have to be between ``least`` and ``most``."""
        minimum = self._get(path, "min", option_type, low, minimum=least, maximum=most)
        maximum = self._get(path, "max", option_type, high, minimum=least, maximum=most)
        for key, value in (("min", minimum), ("max", maximum)):
            if not math.isfinite(value):
                raise self._wrong(path, key, f"it is {value}", "give a number")
        if minimum > maximum:
            raise self._wrong(path, "min", f"it is {minimum}, which is greater than max, {maximum}", "swap the two")
        return minimum, maximum

    @staticmethod
    def _wrong(path: str, key: str, problem: str, hint: str) -> ConfigurationError:
        return ConfigurationError(f"option fields.{path}.{key}: {problem}", hint=hint, key=f"fields.{path}.{key}")

    def _seed_of(self, path: str) -> int:
        return derived_seed(self._seed, path)

    # Random values.

    def _random(self, path: str, data_type: DataType) -> Column:
        for kinds, make, may_be_null in _RANDOM:
            if isinstance(data_type, kinds):
                column = make(self, path, data_type)
                return self._with_nulls(path, data_type, column) if may_be_null else column
        raise ProgramError(
            f"fields.{path}: values of type {data_type.as_summary_string()} cannot be generated",
            hint="leave the column out, or give it another type",
        )

    def _with_nulls(self, path: str, data_type: DataType, column: Column) -> Column:
        rate = self._get(path, "null-rate", "float", 0.0, minimum=0, maximum=1)
        if math.isnan(rate):
            raise self._wrong(path, "null-rate", "it is not a number", "give a number between 0 and 1")
        if rate and not data_type.is_nullable:
            raise self._wrong(
                path, "null-rate", f"{data_type.as_summary_string()} has no nulls", "leave it out, or let the type be nullable"
            )
        return NullableColumn(column, rate, self._seed_of(f"{path} null")) if rate else column

    def _boolean(self, path: str, data_type: BooleanType) -> Column:
        return BooleanColumn(self._seed_of(path))

    def _integer(self, path: str, data_type: IntegralType) -> Column:
        least, most = _integer_range(data_type)
        return IntegerColumn(self._seed_of(path), *self._bounds(path, "int", least, most, least, most))

    def _float(self, path: str, data_type: FloatType) -> Column:
        return FloatColumn(self._seed_of(path), *self._bounds(path, "float", _FLOAT_MIN, _FLOAT_MAX, -_FLOAT_MAX, _FLOAT_MAX), 32)

    def _double(self, path: str, data_type: DoubleType) -> Column:
        return FloatColumn(self._seed_of(path), *self._bounds(path, "float", _DOUBLE_MIN, _DOUBLE_MAX, None, None), 64)

    def _decimal(self, path: str, data_type: DecimalType) -> Column:
        most = 10**data_type.precision - 1
        low, high = self._bounds(path, "float", 0.0, _DOUBLE_MAX, None, None)
        unscaled_low = int(_scaled(low, data_type.scale).to_integral_value(ROUND_CEILING))
        unscaled_high = int(_scaled(high, data_type.scale).to_integral_value(ROUND_FLOOR))
        if max(unscaled_low, -most) > min(unscaled_high, most):
            raise self._wrong(path, "min", f"no {data_type.as_summary_string()} is between {low} and {high}", "give other bounds")
        return DecimalColumn(self._seed_of(path), max(unscaled_low, -most), min(unscaled_high, most), data_type.scale)

    def _char(self, path: str, data_type: CharType) -> Column:
        return TextColumn(self._seed_of(path), data_type.length, varying=False)

    def _binary(self, path: str, data_type: BinaryType) -> Column:
        return BytesColumn(self._seed_of(path), data_type.length, varying=False)

    def _varchar(self, path: str, data_type: VarCharType) -> Column:
        return TextColumn(self._seed_of(path), *self._length(path, data_type))

    def _varbinary(self, path: str, data_type: VarBinaryType) -> Column:
        return BytesColumn(self._seed_of(path), *self._length(path, data_type))

    def _length(self, path: str, data_type: VarCharType | VarBinaryType) -> tuple[int, bool]:
        length = self._get(path, "length", "int", data_type.length, minimum=1, maximum=data_type.length)
        length = _DEFAULT_LENGTH if length == MAX_LENGTH else length
        varying = self._get(path, "var-len", "bool", False)
        if varying and length == 1:
            raise self._wrong(path, "var-len", "varying lengths are less than length, which is 1", "give a length of at least 2")
        return length, varying

    def _date(self, path: str, data_type: DateType) -> Column:
        return DateColumn()

    def _time(self, path: str, data_type: TimeType) -> Column:
        return TimeColumn()

    def _timestamp(self, path: str, data_type: TimestampType) -> Column:
        return TimestampColumn(self._seed_of(path), self._max_past_ms(path))

    def _instant(self, path: str, data_type: LocalZonedTimestampType) -> Column:
        return InstantColumn(self._seed_of(path), self._max_past_ms(path))

    def _max_past_ms(self, path: str) -> int:
        past: Duration = self._get(path, "max-past", "duration", Duration())
        return past.to_millis()

    def _elements(self, path: str) -> int:
        return int(self._get(path, "length", "int", _DEFAULT_ELEMENTS, minimum=0, maximum=MAX_LENGTH))

    def _array(self, path: str, data_type: ArrayType) -> Column:
        return ArrayColumn(self._random(f"{path}.element", data_type.element_type), self._elements(path))

    def _multiset(self, path: str, data_type: MultisetType) -> Column:
        length = self._elements(path)
        counts = IntegerColumn(self._seed_of(f"{path} count"), 0, _MULTISET_MOST)
        return MapColumn(ArrayColumn(self._random(f"{path}.element", data_type.element_type), length), ArrayColumn(counts, length))

    def _map(self, path: str, data_type: MapType) -> Column:
        length = self._elements(path)
        keys, values = self._random(f"{path}.key", data_type.key_type), self._random(f"{path}.value", data_type.value_type)
        return MapColumn(ArrayColumn(keys, length), ArrayColumn(values, length))

    def _row(self, path: str, data_type: RowType) -> Column:
        return RowColumn(data_type.names, tuple(self._random(f"{path}.{field.name}", field.data_type) for field in data_type))

    # Sequences.

    def _sequence(self, path: str, data_type: DataType) -> Column:
        make, least, most = _sequence_of(data_type)
        if make is None:
            hint = "only numbers, strings and bytes have sequences; use 'random'"
            raise self._wrong(path, "kind", f"there are no sequences of type {data_type.as_summary_string()}", hint)
        ends = [
            self._options.require(ConfigOption[int](f"fields.{path}.{key}", "int", None, description, minimum=least, maximum=most))
            for key, description in (("start", "the first value of the sequence"), ("end", "its last value"))
        ]
        if ends[0] > ends[1]:
            raise self._wrong(path, "start", f"it is {ends[0]}, which is greater than end, {ends[1]}", "swap the two")
        self._lengths.append(ends[1] - ends[0] + 1)
        return make(ends[0])


def _integer_range(data_type: IntegralType) -> tuple[int, int]:
    return -(2 ** (data_type.bits - 1)), 2 ** (data_type.bits - 1) - 1


def _scaled(value: float, scale: int) -> Decimal:
    # By its shortest decimal: a bound of 0.1 means a tenth, not the nearest binary number.
    return Decimal(repr(value)).scaleb(scale)


def _sequence_of(data_type: DataType) -> tuple[Callable[[int], Column] | None, int, int]:
    """Return the generator of sequences of a type, and the bounds of the numbers that the type represents exactly."""
    match data_type:
        case IntegralType():
            return IntegerSequence, *_integer_range(data_type)
        case FloatType():
            return FloatSequence, -(2**24), 2**24
        case DoubleType():
            return FloatSequence, -(2**53), 2**53
        case DecimalType(precision=precision, scale=scale):
            most = min(10 ** (precision - scale) - 1, _LONG_MAX)
            return lambda start: DecimalSequence(start, scale), -most, most
        case CharType() | VarCharType():
            return TextSequence, _LONG_MIN, _LONG_MAX
        case BinaryType() | VarBinaryType():
            return BytesSequence, _LONG_MIN, _LONG_MAX
    return None, 0, 0


# Types, their generators, and whether Flink's generator has nulls for them.
_RANDOM: list[tuple[type[DataType], Callable[[_Fields, str, Any], Column], bool]] = [
    (BooleanType, _Fields._boolean, True),
    (IntegralType, _Fields._integer, True),
    (FloatType, _Fields._float, True),
    (DoubleType, _Fields._double, True),
    (DecimalType, _Fields._decimal, True),
    (CharType, _Fields._char, True),
    (VarCharType, _Fields._varchar, True),
    (BinaryType, _Fields._binary, False),
    (VarBinaryType, _Fields._varbinary, False),
    (DateType, _Fields._date, False),
    (TimeType, _Fields._time, False),
    (TimestampType, _Fields._timestamp, True),
    (LocalZonedTimestampType, _Fields._instant, True),
    (ArrayType, _Fields._array, True),
    (MultisetType, _Fields._multiset, True),
    (MapType, _Fields._map, True),
    (RowType, _Fields._row, True),
]
