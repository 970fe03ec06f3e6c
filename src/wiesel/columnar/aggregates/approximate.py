"""Internal. APPROX_COUNT_DISTINCT: HyperLogLog++ with the registers, hashes and bias corrections of Flink, so that estimates are equal.

A register is stored as a number: its index, and in the six lower bits its value, the position of the first set bit in the hashes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wiesel.columnar.aggregates.registry import Accumulator, AggregateFunction, Signs, Spec, register
from wiesel.columnar.aggregates.slots import Column, Slot, numbers
from wiesel.columnar.functions.registry import Arguments, Signature
from wiesel.core.errors import ProgramError
from wiesel.core.xxhash64 import hash_bytes, hash_ints, hash_longs
from wiesel.types import logical as t

__all__: list[str] = []

_BITS = 14
"""For a relative standard deviation of 0.01."""
_REGISTERS = 1 << _BITS
_VALUE_BITS = 6
_LINEAR_UP_TO = 15500
"""Estimate up to which linear counting is used, given in that paper for 14 bits."""
_NEIGHBOURS = 6

# The appendix of the HyperLogLog++ paper has raw estimates for 14 bits with the average numbers of distinct values.
# fmt: off
_RAW = np.array(
    [
        11817.475, 12015.0046, 12215.3792, 12417.7504, 12623.1814, 12830.0086, 13040.0072, 13252.503, 13466.178, 13683.2738, 13902.0344,
        14123.9798, 14347.394, 14573.7784, 14802.6894, 15033.6824, 15266.9134, 15502.8624, 15741.4944, 15980.7956, 16223.8916,
        16468.6316, 16715.733, 16965.5726, 17217.204, 17470.666, 17727.8516, 17986.7886, 18247.6902, 18510.9632, 18775.304, 19044.7486,
        19314.4408, 19587.202, 19862.2576, 20135.924, 20417.0324, 20697.9788, 20979.6112, 21265.0274, 21550.723, 21841.6906, 22132.162,
        22428.1406, 22722.127, 23020.5606, 23319.7394, 23620.4014, 23925.2728, 24226.9224, 24535.581, 24845.505, 25155.9618, 25470.3828,
        25785.9702, 26103.7764, 26420.4132, 26742.0186, 27062.8852, 27388.415, 27714.6024, 28042.296, 28365.4494, 28701.1526,
        29031.8008, 29364.2156, 29704.497, 30037.1458, 30380.111, 30723.8168, 31059.5114, 31404.9498, 31751.6752, 32095.2686,
        32444.7792, 32794.767, 33145.204, 33498.4226, 33847.6502, 34209.006, 34560.849, 34919.4838, 35274.9778, 35635.1322, 35996.3266,
        36359.1394, 36722.8266, 37082.8516, 37447.7354, 37815.9606, 38191.0692, 38559.4106, 38924.8112, 39294.6726, 39663.973,
        40042.261, 40416.2036, 40779.2036, 41161.6436, 41540.9014, 41921.1998, 42294.7698, 42678.5264, 43061.3464, 43432.375, 43818.432,
        44198.6598, 44583.0138, 44970.4794, 45353.924, 45729.858, 46118.2224, 46511.5724, 46900.7386, 47280.6964, 47668.1472,
        48055.6796, 48446.9436, 48838.7146, 49217.7296, 49613.7796, 50010.7508, 50410.0208, 50793.7886, 51190.2456, 51583.1882,
        51971.0796, 52376.5338, 52763.319, 53165.5534, 53556.5594, 53948.2702, 54346.352, 54748.7914, 55138.577, 55543.4824, 55941.1748,
        56333.7746, 56745.1552, 57142.7944, 57545.2236, 57935.9956, 58348.5268, 58737.5474, 59158.5962, 59542.6896, 59958.8004,
        60349.3788, 60755.0212, 61147.6144, 61548.194, 61946.0696, 62348.6042, 62763.603, 63162.781, 63560.635, 63974.3482, 64366.4908,
        64771.5876, 65176.7346, 65597.3916, 65995.915, 66394.0384, 66822.9396, 67203.6336, 67612.2032, 68019.0078, 68420.0388, 68821.22,
        69235.8388, 69640.0724, 70055.155, 70466.357, 70863.4266, 71276.2482, 71677.0306, 72080.2006, 72493.0214, 72893.5952,
        73314.5856, 73714.9852, 74125.3022, 74521.2122, 74933.6814, 75341.5904, 75743.0244, 76166.0278, 76572.1322, 76973.1028,
        77381.6284, 77800.6092, 78189.328, 78607.0962, 79012.2508, 79407.8358, 79825.725, 80238.701, 80646.891, 81035.6436, 81460.0448,
        81876.3884,
    ]
)
_TRUE = np.array(
    [
        1, 410, 820, 1229, 1639, 2048, 2458, 2868, 3277, 3687, 4096, 4506, 4916, 5325, 5735, 6144, 6554, 6964, 7373, 7783, 8192, 8602,
        9012, 9421, 9831, 10240, 10650, 11060, 11469, 11879, 12288, 12698, 13108, 13517, 13927, 14336, 14746, 15156, 15565, 15975,
        16384, 16794, 17203, 17613, 18023, 18432, 18842, 19251, 19661, 20071, 20480, 20890, 21299, 21709, 22119, 22528, 22938, 23347,
        23757, 24167, 24576, 24986, 25395, 25805, 26215, 26624, 27034, 27443, 27853, 28263, 28672, 29082, 29491, 29901, 30311, 30720,
        31130, 31539, 31949, 32359, 32768, 33178, 33587, 33997, 34407, 34816, 35226, 35635, 36045, 36454, 36864, 37274, 37683, 38093,
        38502, 38912, 39322, 39731, 40141, 40550, 40960, 41370, 41779, 42189, 42598, 43008, 43418, 43827, 44237, 44646, 45056, 45466,
        45875, 46285, 46694, 47104, 47514, 47923, 48333, 48742, 49152, 49561, 49971, 50381, 50790, 51200, 51609, 52019, 52429, 52838,
        53248, 53657, 54067, 54477, 54886, 55296, 55705, 56115, 56525, 56934, 57344, 57753, 58163, 58573, 58982, 59392, 59801, 60211,
        60621, 61030, 61440, 61849, 62259, 62668, 63078, 63488, 63897, 64307, 64716, 65126, 65536, 65945, 66355, 66764, 67174, 67584,
        67993, 68403, 68812, 69222, 69632, 70041, 70451, 70860, 71270, 71680, 72089, 72499, 72908, 73318, 73728, 74137, 74547, 74956,
        75366, 75775, 76185, 76595, 77004, 77414, 77823, 78233, 78643, 79052, 79462, 79871, 80281, 80691, 81100, 81510, 81919,
    ]
)
# fmt: on


def _bias(estimate: float) -> float:
    """Return the bias of an estimate: the mean of the biases of its nearest neighbours in the table."""
    low = max(int(np.searchsorted(_RAW, estimate)) - _NEIGHBOURS + 1, 0)
    high = min(low + _NEIGHBOURS, len(_RAW))
    while high < len(_RAW) and (estimate - _RAW[high]) ** 2 < (estimate - _RAW[low]) ** 2:
        low, high = low + 1, high + 1
    return float((_RAW[low:high] - _TRUE[low:high]).mean())


def _estimate(codes: npt.NDArray[np.int64]) -> int:
    """Return the estimated number of distinct values of these registers."""
    values = codes & (2**_VALUE_BITS - 1)
    unset = _REGISTERS - len(codes)
    # Powers of two, whose sums are exact.
    raw = 0.7213 / (1 + 1.079 / _REGISTERS) * _REGISTERS * _REGISTERS / (float(np.ldexp(1.0, -values).sum()) + unset)
    if unset:
        linear = _REGISTERS * math.log(_REGISTERS / unset)
        if linear <= _LINEAR_UP_TO or raw <= 2.5 * _REGISTERS:
            return math.floor(linear + 0.5)
    return math.floor((raw - _bias(raw) if raw < 5 * _REGISTERS else raw) + 0.5)


# The slot is a list of codes, one per register that is not 0.


def _codes(hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    index = (hashes >> np.uint64(64 - _BITS)).astype(np.int64)
    rest = (hashes << np.uint64(_BITS)) | np.uint64(1 << (_BITS - 1))
    high, low = (rest >> np.uint64(32)).astype(np.float64), (rest & np.uint64(0xFFFFFFFF)).astype(np.float64)
    # The exponent of a number is the position of its first set bit; halves of 32 bits are exact.
    zeros = np.where(high > 0, 32 - np.frexp(high)[1], 64 - np.frexp(low)[1])
    return index << _VALUE_BITS | (zeros.astype(np.int64) + 1)


def _largest(codes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the largest code of each register, in order."""
    ordered = np.sort(codes)
    return ordered[np.append(np.diff(ordered >> _VALUE_BITS) > 0, True)] if len(ordered) else ordered


def _settled(slots: list[Column]) -> list[Column]:
    (lists,) = slots
    found = [_largest(numbers(codes.values).astype(np.int64)) if codes.is_valid else np.empty(0, np.int64) for codes in lists]
    offsets = np.concatenate([[0], np.cumsum([len(codes) for codes in found])]).astype(np.int32)
    return [pa.ListArray.from_arrays(pa.array(offsets), pa.array(np.concatenate([*found, np.empty(0, np.int64)]), pa.int32()))]


def _finished(slots: Sequence[Column]) -> Column:
    (lists,) = _settled(list(slots))
    return pa.array([_estimate(numbers(codes.values).astype(np.int64)) for codes in lists], pa.int64())


# Hashes of the internal representation of values in Flink


def _ints(column: Column) -> npt.NDArray[np.uint64]:
    return hash_ints(numbers(column.cast(pa.int32())))


def _longs(column: Column) -> npt.NDArray[np.uint64]:
    return hash_longs(numbers(column.cast(pa.int64())))


def _floating(column: Column) -> npt.NDArray[np.uint64]:
    values = numbers(column) + 0.0  # normalises -0.0
    values[np.isnan(values)] = np.nan
    return hash_longs(values.view(np.int64)) if values.dtype == np.float64 else hash_ints(values.view(np.int32))


def _each(form: Callable[[Column], Column], to_bytes: Callable[[object], bytes]) -> Callable[[Column], npt.NDArray[np.uint64]]:
    def hashed(column: Column) -> npt.NDArray[np.uint64]:
        return np.fromiter((hash_bytes(to_bytes(value)) for value in form(column).to_pylist()), np.uint64, len(column))

    return hashed


_LONG_DECIMAL = 18
"""Decimals of more digits do not fit into 64 bits."""


def _unscaled(value: object) -> bytes:
    """Return the unscaled value of a decimal as bytes like Java's ``BigInteger.toByteArray``."""
    number = int(value.scaleb(-int(value.as_tuple().exponent)))  # type: ignore[attr-defined]
    return number.to_bytes((number if number >= 0 else ~number).bit_length() // 8 + 1, "big", signed=True)


def _decimals(column: Column) -> npt.NDArray[np.uint64]:
    if column.type.precision > _LONG_DECIMAL:
        return _each(lambda values: values, _unscaled)(column)
    digits = [int(value.scaleb(column.type.scale)) for value in column.to_pylist()]
    return hash_longs(np.array(digits, np.int64))


def _milliseconds(column: Column) -> npt.NDArray[np.uint64]:
    per_milli = {"s": 0, "ms": 1, "us": 1000, "ns": 1000000}[column.type.unit]
    values = numbers(column.cast(pa.int64()))
    return hash_longs(values // per_milli if per_milli else values * 1000)


_HASHES: dict[type[t.DataType], Callable[[Column], npt.NDArray[np.uint64]]] = {
    **dict.fromkeys([t.TinyIntType, t.SmallIntType, t.IntType], _ints),
    t.BigIntType: _longs,
    **dict.fromkeys([t.FloatType, t.DoubleType], _floating),
    t.DecimalType: _decimals,
    t.DateType: lambda column: _longs(column.cast(pa.int32())),
    t.TimeType: lambda column: _longs(column.cast(pa.time32("ms")).cast(pa.int32())),
    **dict.fromkeys([t.TimestampType, t.LocalZonedTimestampType], _milliseconds),
    **dict.fromkeys([t.CharType, t.VarCharType], _each(lambda column: column.cast(pa.binary()), lambda value: value)),  # type: ignore[arg-type, return-value]
}


def _resolve(arguments: Arguments, may_be_empty: bool) -> Signature:
    types = arguments.types
    if len(types) != 1 or type(types[0]) not in _HASHES:
        raise arguments.refuse(f"{arguments.name}(<NUMERIC>|<CHARACTER>|<DATE>|<TIME>|<TIMESTAMP>)")
    return Signature(types, t.BigIntType(False))


def _make(spec: Spec) -> Accumulator:
    if spec.retracts:
        raise ProgramError("APPROX_COUNT_DISTINCT does not support retraction", hint="write COUNT(DISTINCT ...), which can")
    hashed = _HASHES[type(spec.types[0])]

    def prepare(columns: Sequence[Column], signs: Signs) -> list[Column]:
        column = columns[0]
        valid = numbers(column.is_valid())
        offsets = np.concatenate([[0], np.cumsum(valid)]).astype(np.int32)
        return [pa.ListArray.from_arrays(pa.array(offsets), pa.array(_codes(hashed(column.drop_null())), pa.int32()))]

    return Accumulator((Slot("list", pa.list_(pa.int32()), []),), prepare, _finished, _settled)


register(AggregateFunction("APPROX_COUNT_DISTINCT", _resolve, _make))
