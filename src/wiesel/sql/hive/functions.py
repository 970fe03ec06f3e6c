"""Internal. Functions and operators of Hive's dialect: what their names mean for operands of any types, by Hive's rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from wiesel.columnar.expressions import Expression, Literal
from wiesel.columnar.functions.registry import call, cast
from wiesel.columnar.functions.user_functions import ModuleFunction
from wiesel.columnar.type_rules import is_text
from wiesel.core.errors import ProgramError
from wiesel.sql.hive.conversions import DOUBLE, INT, LONG, STRING, compared, hive_cast, hive_common_type, if_else, is_null, null_of
from wiesel.types import logical as t
from wiesel.types.logical_intervals import DayTimeIntervalType, YearMonthIntervalType

__all__ = ["dialect_functions"]

_Made = Callable[[Sequence[Expression]], Expression]
_TIMES = (t.DateType, t.TimestampType, t.LocalZonedTimestampType)
_INTERVALS = (DayTimeIntervalType, YearMonthIntervalType)
_VERSION = "2.3.10 r5160d3af392248255f68e41e1e0557eae4d95273"
"""The version of Hive whose results these functions return, as Hive prints it."""
_KINDS: dict[str, t.DataType] = {"s": STRING, "d": DOUBLE, "i": INT, "l": LONG}


def _number(value: Expression) -> Expression:
    """Return a number as it is, anything else as a DOUBLE."""
    return value if isinstance(value.data_type, t.NumericType) else hive_cast(value, DOUBLE)


def _time(value: Expression) -> Expression:
    """Return a date or time as it is, anything else as a text."""
    return value if isinstance(value.data_type, _TIMES) else hive_cast(value, STRING)


def _converted(kind: str, value: Expression) -> Expression:
    if kind in _KINDS:
        return hive_cast(value, _KINDS[kind])
    return _number(value) if kind == "n" else _time(value) if kind == "t" else value


def _plain(name: str, kinds: str) -> _Made:
    """Return what calls a function of the registry with operands of these kinds; ``*`` repeats the last one."""

    def made(operands: Sequence[Expression]) -> Expression:
        repeated = kinds.rstrip("*") + kinds[-2] * (len(operands) - len(kinds) + 1) if kinds.endswith("*") else kinds
        if len(operands) > len(repeated):
            raise ProgramError(f"the function takes {len(repeated)} arguments at most, these are {len(operands)}", hint="leave some out")
        return call(name, [_converted(kind, operand) for kind, operand in zip(repeated, operands, strict=False)])

    return made


# Operators


def _numbers(left: Expression, right: Expression) -> list[Expression]:
    """Return two numbers; whole ones that are written out beside decimals have no more digits than they need."""
    numbers = [_number(left), _number(right)]
    if any(isinstance(each.data_type, t.DecimalType) for each in numbers):
        for place, each in enumerate(numbers):
            if isinstance(each, Literal) and isinstance(each.data_type, t.IntegralType) and each.value is not None:
                numbers[place] = cast(each, t.DecimalType(len(str(abs(each.value))), 0))
    return numbers


def _of_numbers(sign: str) -> _Made:
    def made(operands: Sequence[Expression]) -> Expression:
        left, right = operands
        if any(isinstance(operand.data_type, _INTERVALS) for operand in operands):
            by_time = any(isinstance(operand.data_type, DayTimeIntervalType) for operand in operands)
            as_time = [is_text(each.data_type) or (by_time and isinstance(each.data_type, t.DateType)) for each in operands]
            return call(
                sign, [hive_cast(each, t.TimestampType(6)) if wanted else each for each, wanted in zip(operands, as_time, strict=True)]
            )
        return call(sign, _numbers(left, right))

    return made


def _divided(sign: str) -> _Made:
    """Return what divides: NULL where the divisor is zero."""

    def made(operands: Sequence[Expression]) -> Expression:
        left, right = _numbers(*operands)
        decimal = any(isinstance(each.data_type, t.DecimalType) for each in (left, right))
        approximate = any(isinstance(each.data_type, t.FloatType | t.DoubleType) for each in (left, right))
        if approximate or (sign == "/" and not decimal):
            left, right = hive_cast(left, DOUBLE), hive_cast(right, DOUBLE)
        if sign == "div":
            left, right = hive_cast(left, LONG), hive_cast(right, LONG)
        zero = call("=", [right, cast(Literal(t.IntType(False), 0), right.data_type)])
        divisor = if_else(zero, null_of(right.data_type), right)
        if sign == "%":
            return call("hiveql.REMAINDER" if approximate else "%", [left, divisor])
        return call("/", [left, divisor])

    return made


def _compared(sign: str) -> _Made:
    return lambda operands: compared(sign, *operands)


def _bits(name: str) -> _Made:
    def made(operands: Sequence[Expression]) -> Expression:
        common = hive_common_type([operand.data_type for operand in operands])
        if not isinstance(common, t.IntegralType):
            raise ProgramError("the operator takes whole numbers", hint="cast the operands to BIGINT")
        wide = common if isinstance(common, t.BigIntType) else INT
        return call(name, [hive_cast(operand, wide) for operand in operands])

    return made


def _in(operands: Sequence[Expression]) -> Expression:
    tested, *items = operands
    return reduce(lambda one, other: call("OR", [one, other]), [compared("=", tested, item) for item in items])


def _like(operands: Sequence[Expression]) -> Expression:
    escape = Literal(t.CharType(1, False), "\\")
    return call("LIKE", [*(hive_cast(operand, STRING) for operand in operands), escape])


def _or_null(made: Expression, *nulls: Expression) -> Expression:
    return if_else(reduce(lambda one, other: call("OR", [one, other]), map(is_null, nulls)), null_of(made.data_type), made)


# Conditions


def _same_type(name: str, values: Sequence[Expression]) -> list[Expression]:
    common = hive_common_type([value.data_type for value in values])
    if common is None:
        shown = ", ".join(value.data_type.as_summary_string() for value in values)
        raise ProgramError(f"the values of {name} have types without a common one: {shown}", hint="cast them to one type")
    return [hive_cast(value, common) for value in values]


def _case(operands: Sequence[Expression]) -> Expression:
    conditions, values = operands[:-1:2], _same_type("CASE", [*operands[1::2], operands[-1]])
    parts = [part for pair in zip(conditions, values, strict=False) for part in pair]
    return call("CASE", [*parts, values[-1]])


def _if(operands: Sequence[Expression]) -> Expression:
    condition = hive_cast(operands[0], t.BooleanType())
    return call("CASE", [condition, *_same_type("IF", operands[1:])])


def _coalesce(operands: Sequence[Expression]) -> Expression:
    return call("COALESCE", _same_type("COALESCE", operands))


# Strings


def _concat_ws(operands: Sequence[Expression]) -> Expression:
    separator, parts = hive_cast(operands[0], STRING), []
    for operand in operands[1:]:
        of = operand.data_type
        if isinstance(of, t.ArrayType):
            operand = call("ARRAY_JOIN", [operand, separator])
        parts.append(hive_cast(operand, STRING))
    return call("CONCAT_WS", [separator, *parts])


def _trim(where: str) -> _Made:
    return lambda operands: call("TRIM", [hive_cast(operands[0], STRING), Literal(t.CharType(1, False), " ")], [where])


def _str_to_map(operands: Sequence[Expression]) -> Expression:
    separators = [Literal(STRING, sign) for sign in (",", ":")]
    return call("STR_TO_MAP", [hive_cast(operand, STRING) for operand in [*operands, *separators[len(operands) - 1 :]]])


def _concat(operands: Sequence[Expression]) -> Expression:
    return call("CONCAT", [hive_cast(operand, STRING) for operand in operands])


# Numbers


def _round(operands: Sequence[Expression]) -> Expression:
    return call("ROUND", [_number(operands[0]), *(hive_cast(each, INT) for each in operands[1:])])


def _whole(name: str) -> _Made:
    """Return FLOOR or CEIL: a BIGINT of floating-point numbers, as of whole ones."""

    def made(operands: Sequence[Expression]) -> Expression:
        number = _number(operands[0])
        found = call(name, [number])
        return found if isinstance(number.data_type, t.DecimalType) else cast(found, LONG)

    return made


def _greatest(name: str) -> _Made:
    return lambda operands: call(name, _same_type(name, operands))


def _or_null_where(name: str, kinds: str, sign: str) -> _Made:
    """Return a function of one number that is NULL outside of its domain: where ``number sign 0``."""

    def made(operands: Sequence[Expression]) -> Expression:
        number = hive_cast(operands[-1], DOUBLE)
        wrong = call(sign, [number, Literal(t.DoubleType(False), 0.0)])
        return if_else(wrong, null_of(DOUBLE), _plain(name, kinds)(operands))

    return made


def _sum(operands: Sequence[Expression]) -> Expression:
    of = operands[0].data_type
    return hive_cast(operands[0], LONG if isinstance(of, t.IntegralType) else of if isinstance(of, t.DecimalType) else DOUBLE)


def _avg(operands: Sequence[Expression]) -> Expression:
    return operands[0] if isinstance(operands[0].data_type, t.DecimalType) else hive_cast(operands[0], DOUBLE)


# Sums of pairs


def _covariance(sums: Sequence[Expression], *, of_sample: bool) -> Expression:
    count, x, y, xy = (hive_cast(each, DOUBLE) for each in sums[:4])
    deviation = call("-", [xy, call("/", [call("*", [x, y]), count])])
    least = Literal(t.DoubleType(False), 1.0 if of_sample else 0.0)
    divisor = call("-", [count, least]) if of_sample else count
    return if_else(call(">", [count, least]), call("/", [deviation, divisor]), null_of(DOUBLE))


def _correlation(sums: Sequence[Expression]) -> Expression:
    count, x, y, xy, xx, yy = (hive_cast(each, DOUBLE) for each in sums)

    def deviation(product: Expression, one: Expression, other: Expression) -> Expression:
        return call("-", [call("*", [count, product]), call("*", [one, other])])

    roots = [call("SQRT", [deviation(square, of, of)]) for square, of in ((xx, x), (yy, y))]
    enough = call(">", [count, Literal(t.DoubleType(False), 1.0)])
    return if_else(enough, call("/", [deviation(xy, x, y), call("*", roots)]), null_of(DOUBLE))


def _regression(name: str) -> _Made:
    """Return a function of linear regression, of what was counted and summed over the rows that have both values."""

    def made(operands: Sequence[Expression]) -> Expression:
        if len(operands) != 10:  # noqa: PLR2004 - count, two sums and that of products, variance, least and largest of both
            raise ProgramError(f"{name}() takes two numbers", hint=f"write {name}(y, x)")
        if name == "regr_count":
            return operands[0]
        count, y, x, yx, *spreads = (hive_cast(each, DOUBLE) for each in operands)
        one, zero = (Literal(t.DoubleType(False), number) for number in (1.0, 0.0))
        # The variance of equal values may differ from 0 by the rounding of their mean.
        syy, sxx = (
            if_else(call("=", [least, largest]), zero, call("*", [variance, count]))
            for variance, least, largest in (spreads[:3], spreads[3:])
        )
        sxy = call("-", [yx, call("/", [call("*", [y, x]), count])])
        slope = call("/", [sxy, sxx])
        square = call("/", [call("/", [call("*", [sxy, sxy]), sxx]), syy])
        values = {
            "regr_sxx": sxx,
            "regr_syy": syy,
            "regr_sxy": sxy,
            "regr_slope": slope,
            "regr_intercept": call("/", [call("-", [y, call("*", [slope, x])]), count]),
            "regr_r2": if_else(call("=", [syy, zero]), one, square),
        }
        enough = call(">", [count, zero])
        if name in ("regr_slope", "regr_intercept", "regr_r2"):
            enough = call("AND", [call(">", [count, one]), call("<>", [sxx, zero])])
        return if_else(enough, values[name], null_of(DOUBLE))

    return made


# Times


def _part_of_date(unit: str) -> _Made:
    def made(operands: Sequence[Expression]) -> Expression:
        of = operands[0]
        return call("EXTRACT", [of if isinstance(of.data_type, _TIMES) else hive_cast(of, t.DateType())], [unit])

    return made


def _part_of_time(unit: str) -> _Made:
    def made(operands: Sequence[Expression]) -> Expression:
        of = operands[0]
        if isinstance(of.data_type, _TIMES):
            return call("EXTRACT", [hive_cast(of, t.TimestampType(6))], [unit])
        text = hive_cast(of, STRING)
        readings = [call("TRY_CAST", [text], [kind]) for kind in (t.TimestampType(6), t.TimeType(0))]
        return call("COALESCE", [call("EXTRACT", [each], [unit]) for each in readings])

    return made


def _date_format(operands: Sequence[Expression]) -> Expression:
    return call("DATE_FORMAT", [hive_cast(operands[0], t.TimestampType(6)), hive_cast(operands[1], STRING)])


def _unix_timestamp(operands: Sequence[Expression]) -> Expression:
    if operands and not is_text(operands[0].data_type):
        seconds = call("DATE_FORMAT", [hive_cast(operands[0], t.TimestampType(6)), Literal(STRING, "yyyy-MM-dd HH:mm:ss")])
        return call("UNIX_TIMESTAMP", [seconds])
    return call("UNIX_TIMESTAMP", [hive_cast(operand, STRING) for operand in operands])


def _floor_to(unit: str) -> _Made:
    return lambda operands: call("FLOOR TO", [hive_cast(operands[0], t.TimestampType(6))], [unit])


# Collections


def _item(operands: Sequence[Expression]) -> Expression:
    """Return the element of an array at a place from 0 on, or the value of a key; NULL if there is none."""
    collection, key = operands
    of = collection.data_type
    if not isinstance(of, t.ArrayType):
        if isinstance(of, t.MapType):
            key = hive_cast(key, of.key_type)
        return call("ITEM", [collection, key])
    place = hive_cast(key, INT)
    inside = call("AND", [call(">=", [place, Literal(t.IntType(False), 0)]), call("<", [place, call("CARDINALITY", [collection])])])
    element = call("ITEM", [collection, call("+", [if_else(inside, place, null_of(INT)), Literal(t.IntType(False), 1)])])
    return if_else(inside, element, null_of(element.data_type))


def _array(operands: Sequence[Expression]) -> Expression:
    return call("ARRAY", _same_type("array()", operands)) if operands else Literal(t.ArrayType(STRING, False), [])


def _map(operands: Sequence[Expression]) -> Expression:
    if len(operands) % 2 or not operands:
        raise ProgramError("map() takes keys and values in turns", hint="write map('a', 1, 'b', 2)")
    keys, values = _same_type("map()", operands[::2]), _same_type("map()", operands[1::2])
    return call("MAP", [part for pair in zip(keys, values, strict=True) for part in pair])


def _array_contains(operands: Sequence[Expression]) -> Expression:
    array, value = operands
    element = array.data_type.element_type if isinstance(array.data_type, t.ArrayType) else value.data_type
    found = call("ARRAY_CONTAINS", [array, hive_cast(value, element)])
    return call("COALESCE", [found, Literal(t.BooleanType(False), False)])


def _sort_array_by(operands: Sequence[Expression]) -> Expression:
    """Sort an array of structs by fields that are named; the last argument may be the direction, ASC or DESC."""
    array, *names = operands
    of = array.data_type
    structs = of.element_type if isinstance(of, t.ArrayType) else None
    if not isinstance(structs, t.RowType):
        raise ProgramError("sort_array_by() takes an array of structs", hint="write sort_array_by(array, 'field', 'DESC')")
    if not all(isinstance(name, Literal) and isinstance(name.value, str) for name in names):
        raise ProgramError("sort_array_by() takes names of fields that are written out", hint="write sort_array_by(array, 'field', 'DESC')")
    wanted = [str(name.value).lower() for name in names if isinstance(name, Literal)]
    directed = len(wanted) > 1 and wanted[-1] in ("asc", "desc")
    sorting = wanted[:-1] if directed else wanted
    fields = {field.name.lower(): field for field in structs.fields}
    for name in sorting:
        if name not in fields:
            raise ProgramError(f"the structs of the array have no field {name!r}", hint=f"its fields are {', '.join(fields)}")
        if isinstance(fields[name].data_type, t.ArrayType | t.MapType | t.RowType):
            raise ProgramError(f"fields that sort are of simple types; {name!r} is a {fields[name].data_type}", hint="sort by others")
    return call("hiveql.SORT_ARRAY_BY", [array], [*(fields[name].name for name in sorting), not (directed and wanted[-1] == "desc")])


def _or_empty(operands: Sequence[Expression]) -> Expression:
    found = operands[0]
    return call("COALESCE", [found, Literal(found.data_type.not_null(), [])])


def _grams(name: str, example: str) -> _Made:
    """Return what finds the n-grams of a row: in an array of words, or in an array of such arrays."""

    def made(operands: Sequence[Expression]) -> Expression:
        of = operands[0].data_type if len(operands) == 2 else None
        if not isinstance(of, t.ArrayType):
            raise ProgramError("n-grams are found in an array of words or of sentences", hint=f"write {example}")
        sentences = operands[0] if isinstance(of.element_type, t.ArrayType) else call("ARRAY", [operands[0]])
        return call(name, [sentences, operands[1]])

    return made


def _cast_to(wanted: t.DataType) -> _Made:
    return lambda operands: hive_cast(operands[0], wanted)


_MADE: dict[str, _Made] = {
    **{sign: _of_numbers(sign) for sign in "+-*"},
    **{sign: _divided(sign) for sign in ("/", "%", "div")},
    **{sign: _compared(sign) for sign in ("=", "<>", "<", "<=", ">", ">=")},
    "mod": _divided("%"),
    "<=>": _compared("IS NOT DISTINCT FROM"),
    "&": _bits("hiveql.BIT_AND"),
    "|": _bits("hiveql.BIT_OR"),
    "^": _bits("hiveql.BIT_XOR"),
    "~": _bits("hiveql.BIT_NOT"),
    "in": _in,
    "like": _like,
    "rlike": _plain("REGEXP", "ss"),
    "regexp": _plain("REGEXP", "ss"),
    # Conditions
    "case": _case,
    "if": _if,
    "coalesce": _coalesce,
    "nvl": _coalesce,
    # Strings
    "concat": _concat,
    "concat_ws": _concat_ws,
    "length": _plain("hive.LENGTH", "s"),
    "substr": _plain("hiveql.SUBSTR", "sii"),
    "substring": _plain("hiveql.SUBSTR", "sii"),
    "trim": _trim("BOTH"),
    "ltrim": _trim("LEADING"),
    "rtrim": _trim("TRAILING"),
    "split": _plain("hiveql.SPLIT", "ss"),
    "regexp_extract": _plain("hiveql.REGEXP_EXTRACT", "ssi"),
    **{name: _plain(name.upper(), "s") for name in ("upper", "lower", "reverse", "ascii", "char_length", "md5", "sha1")},
    "initcap": _plain("hiveql.INITCAP", "s"),
    "ucase": _plain("UPPER", "s"),
    "lcase": _plain("LOWER", "s"),
    "character_length": _plain("CHAR_LENGTH", "s"),
    "lpad": _plain("LPAD", "sis"),
    "rpad": _plain("RPAD", "sis"),
    "repeat": _plain("REPEAT", "si"),
    "instr": _plain("INSTR", "ss"),
    "locate": _plain("LOCATE", "ssi"),
    "regexp_replace": _plain("hiveql.REGEXP_REPLACE", "sss"),
    "str_to_map": _str_to_map,
    "translate": _plain("TRANSLATE", "sss"),
    "replace": _plain("REPLACE", "sss"),
    "elt": _plain("ELT", "is*"),
    "field": _plain("hive.FIELD", "s*"),
    "find_in_set": _plain("hive.FIND_IN_SET", "ss"),
    "format_number": _plain("hive.FORMAT_NUMBER", "di"),
    "bin": _plain("BIN", "l"),
    "conv": _plain("hive.CONV", "sii"),
    "chr": _plain("CHR", "l"),
    # Numbers
    "round": _round,
    "floor": _whole("FLOOR"),
    "ceil": _whole("CEIL"),
    "ceiling": _whole("CEIL"),
    "greatest": _greatest("GREATEST"),
    "least": _greatest("LEAST"),
    "sqrt": _or_null_where("SQRT", "d", "<"),
    "ln": _or_null_where("LN", "d", "<="),
    "log": lambda operands: _or_null_where("LN" if len(operands) == 1 else "LOG", "dd", "<=")(operands),
    "log2": _or_null_where("LOG2", "d", "<="),
    "log10": _or_null_where("LOG10", "d", "<="),
    "pow": _plain("POWER", "dd"),
    "power": _plain("POWER", "dd"),
    **{name: _plain(name.upper(), "d") for name in ("exp", "sin", "cos", "tan", "asin", "acos", "atan", "degrees", "radians")},
    "abs": _plain("ABS", "n"),
    "sign": _plain("SIGN", "d"),
    "negative": _plain("NEGATE", "n"),
    "positive": lambda operands: _number(operands[0]),
    "pmod": _plain("hive.PMOD", "nn"),
    "cbrt": _plain("hive.CBRT", "d"),
    "bround": _plain("hive.BROUND", "di"),
    # Times
    "year": _part_of_date("YEAR"),
    "quarter": _part_of_date("QUARTER"),
    "month": _part_of_date("MONTH"),
    "week": _part_of_date("WEEK"),
    "day": _part_of_date("DAY"),
    "dayofmonth": _part_of_date("DAY"),
    "dayofweek": _part_of_date("DOW"),
    "hour": _part_of_time("HOUR"),
    "minute": _part_of_time("MINUTE"),
    "second": _part_of_time("SECOND"),
    "to_date": _cast_to(t.DateType()),
    "date_format": _date_format,
    "unix_timestamp": _unix_timestamp,
    "to_unix_timestamp": _unix_timestamp,
    "from_unixtime": _plain("FROM_UNIXTIME", "ls"),
    "current_timestamp": lambda operands: call("LOCALTIMESTAMP", []),
    **{name: _plain(f"hive.{name.upper()}", "ti") for name in ("date_add", "date_sub", "add_months")},
    **{name: _plain(f"hive.{name.upper()}", "tt") for name in ("datediff", "months_between")},
    **{name: _plain(f"hive.{name.upper()}", "t") for name in ("last_day", "weekofyear")},
    **{name: _plain(f"hive.{name.upper()}", "ts") for name in ("next_day", "trunc", "from_utc_timestamp", "to_utc_timestamp")},
    **{f"floor_{unit.lower()}": _floor_to(unit) for unit in ("SECOND", "MINUTE", "HOUR", "DAY", "MONTH", "QUARTER", "YEAR")},
    # Collections
    "item": _item,
    "array": _array,
    "map": _map,
    "array_contains": _array_contains,
    "sort_array_by": _sort_array_by,
    # Conversions
    "string": _cast_to(STRING),
    "tinyint": _cast_to(t.TinyIntType()),
    "smallint": _cast_to(t.SmallIntType()),
    "int": _cast_to(INT),
    "bigint": _cast_to(LONG),
    "float": _cast_to(t.FloatType()),
    "double": _cast_to(DOUBLE),
    "boolean": _cast_to(t.BooleanType()),
    "date": _cast_to(t.DateType()),
    "timestamp": _cast_to(t.TimestampType(6)),
    "version": lambda operands: Literal(STRING.not_null(), _VERSION),
    # What aggregates are made of
    "$sum": _sum,
    "$avg": _avg,
    "$double": _cast_to(DOUBLE),
    "$or empty array": _or_empty,
    "$ngrams": _grams("hiveql.NGRAMS", "ngrams(sentences, 2, 10)"),
    "$context_ngrams": _grams("hiveql.CONTEXT_NGRAMS", "context_ngrams(sentences, array('i', 'love', NULL), 10)"),
    "$$corr": _correlation,
    **{
        f"$${name}": _regression(name)
        for name in ("regr_count", "regr_slope", "regr_intercept", "regr_r2", "regr_sxx", "regr_syy", "regr_sxy", "regr_avgx", "regr_avgy")
    },
    "$$covar_pop": lambda operands: _covariance(operands, of_sample=False),
    "$$covar_samp": lambda operands: _covariance(operands, of_sample=True),
}


_MANY = 255
_COUNTS = {
    "if": (2, 3),
    "nvl": (2, 2),
    "coalesce": (1, _MANY),
    "concat": (1, _MANY),
    "concat_ws": (1, _MANY),
    "str_to_map": (1, 3),
    "round": (1, 2),
    "greatest": (1, _MANY),
    "least": (1, _MANY),
    "log": (1, 2),
    "date_format": (2, 2),
    "unix_timestamp": (0, 2),
    "to_unix_timestamp": (0, 2),
    "current_timestamp": (0, 0),
    "array_contains": (2, 2),
    "sort_array_by": (2, _MANY),
    "version": (0, 0),
    "pmod": (2, 2),
    "mod": (2, 2),
}
"""Minimal and maximal number of arguments of functions that do not check it."""
_ONE = frozenset(
    """
    trim ltrim rtrim floor ceil ceiling sqrt ln log2 log10 positive year quarter month week day dayofmonth dayofweek hour minute second
    to_date floor_second floor_minute floor_hour floor_day floor_month floor_quarter floor_year string tinyint smallint int bigint float
    double boolean date timestamp
    """.split()
)


def _counted(name: str, made: _Made) -> _Made:
    """Return a function that refuses too few and too many arguments."""
    least, most = (1, 1) if name in _ONE else _COUNTS.get(name, (0, _MANY))

    def checked(operands: Sequence[Expression]) -> Expression:
        if not least <= len(operands) <= most:
            shown = str(least) if least == most else f"at least {least}" if most == _MANY else f"{least} to {most}"
            message = f"{name}() takes {shown} argument{'s' * (shown.split()[-1] != '1')}, these are {len(operands)}"
            raise ProgramError(message, hint="give as many as the function takes")
        return made(operands)

    return checked


def dialect_functions() -> dict[str, ModuleFunction]:
    """Return the functions and operators of the dialect, by their names in capitals."""
    return {name.upper(): ModuleFunction(_counted(name, made)) for name, made in _MADE.items()}
