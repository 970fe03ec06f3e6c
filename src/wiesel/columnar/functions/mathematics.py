"""Internal. Mathematical functions: logarithms, angles, rounding, random numbers."""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.expressions import Call
from wiesel.columnar.functions import decimals, fdlibm
from wiesel.columnar.functions.kernels import by_arrays, by_doubles, by_kernel, fail_where, from_numbers, numbers, valid_mask
from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, register
from wiesel.columnar.functions.signatures import BIGINT, DOUBLE, INTEGER, NUMERIC, never_null, nullable_if_any, taking
from wiesel.columnar.type_rules import is_approximate, round_type
from wiesel.types import logical as t

__all__: list[str] = []

_DOUBLE = t.DoubleType()
_DEGREES = 57.29577951308232
_RADIANS = 0.017453292519943295
# As literals: a computed power may be off in its last digit.
_POWERS_OF_TEN = np.array([float(f"1e{n}") for n in range(-300, 301)])


_KERNELS: dict[str, Callable[[Any], Any]] = {
    "SQRT": pc.sqrt,
    "EXP": pc.exp,
    "LN": pc.ln,
    "LOG10": pc.log10,
    "LOG2": lambda x: pc.divide(pc.ln(x), math.log(2)),
    "SIN": pc.sin,
    "COS": pc.cos,
    "TAN": pc.tan,
    "COT": lambda x: pc.divide(1.0, pc.tan(x)),
    "ASIN": pc.asin,
    "ACOS": pc.acos,
    "ATAN": pc.atan,
    "ATAN2": pc.atan2,
    "POWER": pc.power,
    "DEGREES": lambda x: pc.multiply(x, _DEGREES),
    "RADIANS": lambda x: pc.multiply(x, _RADIANS),
}
for _name, _kernel in _KERNELS.items():
    _operands = [DOUBLE] * (2 if _name in ("ATAN2", "POWER") else 1)
    register(ScalarFunction(_name, taking(_DOUBLE, *_operands), by_kernel(_kernel)))
for _name, _compute in (("SINH", fdlibm.sinh), ("COSH", fdlibm.cosh), ("TANH", fdlibm.tanh)):
    register(ScalarFunction(_name, taking(_DOUBLE, DOUBLE), by_doubles(_compute)))


def _log(*values: Any) -> Any:
    return pc.ln(values[0]) if len(values) == 1 else pc.divide(pc.ln(values[1]), pc.ln(values[0]))


register(ScalarFunction("LOG", taking(_DOUBLE, DOUBLE, DOUBLE, optional=1), by_kernel(_log)))

for _name, _constant in (("PI", math.pi), ("E", math.e)):
    register(ScalarFunction(_name, taking(never_null(_DOUBLE)), by_kernel(partial(pa.scalar, _constant))))


# Rounding


def _whole_type(arguments: Arguments) -> t.DataType:
    (of,) = arguments.types
    found = t.DecimalType(of.precision, 0) if isinstance(of, t.DecimalType) else of
    return nullable_if_any(found, arguments)


def _whole(up: bool) -> Callable[..., Any]:
    def evaluate(call: Call, frame: Any, operands: list[Any]) -> Any:
        (column,) = operands
        if pa.types.is_integer(column.type):
            return column
        if not pa.types.is_decimal(column.type):
            return (pc.ceil if up else pc.floor)(column)
        wide = column.cast(pa.decimal256(min(76, column.type.precision + 1), column.type.scale))
        return (pc.ceil if up else pc.floor)(wide).cast(arrow_type(call.data_type))

    return evaluate


for _name in ("FLOOR", "CEIL"):
    register(ScalarFunction(_name, taking(_whole_type, NUMERIC), _whole(_name == "CEIL")))


def _resolve_rounding(arguments: Arguments) -> Signature:
    signature = taking(_DOUBLE, NUMERIC, INTEGER, optional=1)(arguments)
    of = signature.operand_types[0]
    if isinstance(of, t.DecimalType):
        digits = 0 if len(arguments.types) == 1 else arguments.literal(1)
        of = of if digits is None else round_type(of, digits)
    return Signature(signature.operand_types, nullable_if_any(of, arguments))


def _rounding(of_floats: Callable[..., Any], of_decimals: Callable[..., Any], half_up: bool) -> Callable[..., Any]:
    def compute(call: Call, frame: Any, column: Any, digits: Any = None) -> Any:
        wanted = arrow_type(call.data_type)
        places = np.zeros(len(column), np.int64) if digits is None else numbers(digits).astype(np.int64)
        valid = valid_mask(column) if digits is None else valid_mask(column, digits)
        if pa.types.is_integer(column.type):
            return from_numbers(_rounded_whole(numbers(column), places, half_up).astype(wanted.to_pandas_dtype()), valid, wanted)
        if is_approximate(call.data_type):
            return from_numbers(of_floats(call, column, places, valid).astype(wanted.to_pandas_dtype()), valid, wanted)
        if not len(column) or (places == places[0]).all():
            rounded = of_decimals(column, int(places[0]) if len(column) else 0, wanted)
            return rounded if valid is None else pc.if_else(pa.array(valid), rounded, pa.scalar(None, wanted))
        parts = [of_decimals(column.slice(i, 1), int(place), wanted) for i, place in enumerate(places)]
        known = np.ones(len(column), bool) if valid is None else valid
        return pc.if_else(pa.array(known), pa.concat_arrays(parts), pa.scalar(None, wanted))

    return by_arrays(compute)


def _rounded_whole(values: npt.NDArray[Any], places: npt.NDArray[np.int64], half_up: bool) -> npt.NDArray[np.int64]:
    values = values.astype(np.int64)
    unit = 10 ** np.clip(-places, 0, 18)
    with np.errstate(all="ignore"):
        rest = np.fmod(values, unit)
        rounded = values - rest
        if half_up:
            # Numbers out of range wrap around, as in Java.
            rounded = rounded + np.where(np.abs(rest) * 2 >= unit, np.sign(rest) * unit, 0) * (unit > 1)
    return np.where(-places > 18, 0, rounded)


def _exactly(values: npt.NDArray[np.float64], places: npt.NDArray[np.int64], mode: str, chosen: npt.NDArray[np.bool_]) -> Any:
    """Round the selected numbers by their shortest decimal representation, as Java does."""
    context = decimal.Context(prec=800)
    found = values.copy()
    for place in np.flatnonzero(chosen):
        number = decimal.Decimal(repr(float(values[place])))
        digits = int(places[place])
        if digits < 0 or digits < -number.as_tuple().exponent:  # type: ignore[operator]
            unit = decimal.Decimal(1).scaleb(-digits)
            found[place] = float(number.quantize(unit, mode, context)) + 0.0
    return found


def _rounded_floats(call: Call, column: Any, places: npt.NDArray[np.int64], valid: Any) -> Any:
    values = _shortest(column)
    scale = _POWERS_OF_TEN[np.clip(places, -300, 300) + 300]
    with np.errstate(all="ignore"):
        scaled = values * scale
        whole = np.floor(np.abs(scaled) + 0.5)
        near_half = np.abs(np.abs(scaled) - np.floor(np.abs(scaled)) - 0.5) < 1e-4
        simple = (np.abs(scaled) < 1e9) & ~near_half & (np.abs(places) <= 6)
        found = np.where(whole == 0, 0.0, np.sign(scaled) * whole / scale)
    hard = ~simple & np.isfinite(values)
    return np.where(simple, found, _exactly(values, places, decimal.ROUND_HALF_UP, hard)) if hard.any() else found


def _shortest(column: Any) -> npt.NDArray[np.float64]:
    if pa.types.is_float32(column.type):
        # BigDecimal.valueOf takes the double value of a float.
        return numbers(column).astype(np.float64)
    return numbers(column)


def _rounded_decimals(column: Any, digits: int, wanted: pa.DataType) -> Any:
    return decimals.fitted(decimals.rounded(column, digits), wanted)


def _truncated_floats(call: Call, column: Any, places: npt.NDArray[np.int64], valid: Any) -> Any:
    values = numbers(column).astype(np.float64)
    # They are computed as DECIMAL(38, 18) in Flink, which cannot hold more.
    large = ~(np.abs(values) < 1e20)
    fail_where(call, [column], large if valid is None else large & valid, "the number is too large")
    scale = _POWERS_OF_TEN[np.clip(places, -300, 300) + 300]
    scaled = values * scale
    near = np.abs(scaled - np.rint(scaled)) < 1e-4
    simple = (np.abs(scaled) < 1e9) & ~near & (np.abs(places) <= 6)
    found = np.trunc(scaled) / scale
    return np.where(simple, found, _exactly(values, np.minimum(places, 18), decimal.ROUND_DOWN, ~simple)) + 0.0


def _truncated_decimals(column: Any, digits: int, wanted: pa.DataType) -> Any:
    if digits >= column.type.scale:
        return column.cast(wanted)
    return decimals.fitted(pc.round(column, digits, "towards_zero"), wanted)


register(ScalarFunction("ROUND", _resolve_rounding, _rounding(_rounded_floats, _rounded_decimals, True)))
register(ScalarFunction("TRUNCATE", _resolve_rounding, _rounding(_truncated_floats, _truncated_decimals, False), may_fail=True))


# Bits and random numbers


def _binary(call: Call, frame: Any, column: Any) -> Any:
    strings = [None if value is None else format(value & 0xFFFF_FFFF_FFFF_FFFF, "b") for value in column.to_pylist()]
    return pa.array(strings, pa.string())


register(ScalarFunction("BIN", taking(t.VarCharType(t.MAX_LENGTH), BIGINT), by_arrays(_binary)))


def _random(call: Call, frame: Any, operands: list[Any]) -> Any:
    generator = _generator(frame, operands[0] if operands else None)
    return pa.array(generator.random(frame.num_rows))


def _generator(frame: Any, seed: Any) -> np.random.Generator:
    """Return the generator of a seed, which continues from batch to batch."""
    if not isinstance(seed, pa.Scalar):
        return frame.session.generators.setdefault(None, np.random.default_rng())  # type: ignore[no-any-return]
    number = seed.as_py() or 0
    if number not in frame.session.generators:
        frame.session.generators[number] = np.random.default_rng(number & 0xFFFF_FFFF)
    return frame.session.generators[number]  # type: ignore[no-any-return]


def _random_whole(call: Call, frame: Any, operands: list[Any]) -> Any:
    seed, bound = (None, operands[0]) if len(operands) == 1 else operands
    bounds = pa.repeat(bound, frame.num_rows) if isinstance(bound, pa.Scalar) else bound
    valid, limits = valid_mask(bounds), numbers(bounds)
    wrong = limits <= 0
    fail_where(call, [bounds] if seed is None else [seed, bounds], wrong if valid is None else wrong & valid, "the bound must be positive")
    found = _generator(frame, seed).integers(0, np.maximum(limits, 1), dtype=np.int32)
    return from_numbers(found, valid, pa.int32())


register(ScalarFunction("RAND", taking(never_null(_DOUBLE), INTEGER, optional=1), _random, deterministic=False))
register(
    ScalarFunction("RAND_INTEGER", taking(t.IntType(), INTEGER, INTEGER, optional=1), _random_whole, deterministic=False, may_fail=True)
)
