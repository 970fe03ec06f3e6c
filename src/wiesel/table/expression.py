"""``Expression``: values of columns, computed of columns and constants. Nothing is computed before the table is read."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, Generic, TypeVar

from sqlglot import exp

from wiesel.columnar.expressions import Literal
from wiesel.columnar.functions.intervals import UNIT_MONTHS, UNIT_MS
from wiesel.core.argument_checks import require_instance
from wiesel.core.errors import ArgumentTypeError
from wiesel.core.user_location import program_error
from wiesel.sql.language import nodes
from wiesel.sql.language.built_nodes import FieldAt, OverAlias, Plus, Stand, WindowProperty
from wiesel.table.query.ast_nodes import aggregate, built_in, constant, json_call, length_of_time, literal, months, stand_of
from wiesel.table.query.expression_printer import expression_text
from wiesel.table.query.expression_sql import sql_of
from wiesel.types import logical as t
from wiesel.types.data_types import DataTypes

__all__ = [
    "Expression",
    "JsonExistsOnError",
    "JsonOnNull",
    "JsonQueryOnEmptyOrError",
    "JsonQueryWrapper",
    "JsonType",
    "JsonValueOnEmptyOrError",
    "TimeIntervalUnit",
    "TimePointUnit",
]

T = TypeVar("T")


class TimeIntervalUnit(Enum):
    """Units of lengths of time."""

    # PyFlink's values are tuples, all but the last.
    YEAR = (0,)
    YEAR_TO_MONTH = (1,)
    QUARTER = (2,)
    MONTH = (3,)
    WEEK = (4,)
    DAY = (5,)
    DAY_TO_HOUR = (6,)
    DAY_TO_MINUTE = (7,)
    DAY_TO_SECOND = (8,)
    HOUR = (9,)
    SECOND = (10,)
    HOUR_TO_MINUTE = (11,)
    HOUR_TO_SECOND = (12,)
    MINUTE = (13,)
    MINUTE_TO_SECOND = 14


class TimePointUnit(Enum):
    """Units of differences of points in time."""

    YEAR = (0,)
    MONTH = (1,)
    DAY = (2,)
    HOUR = (3,)
    MINUTE = (4,)
    SECOND = (5,)
    QUARTER = (6,)
    WEEK = (7,)
    MILLISECOND = (8,)
    MICROSECOND = 9


class JsonType(Enum):
    """Kinds of values in JSON."""

    VALUE = (0,)
    SCALAR = (1,)
    ARRAY = (2,)
    OBJECT = 3


class JsonExistsOnError(Enum):
    """Result of ``json_exists`` for an invalid path."""

    TRUE = (0,)
    FALSE = (1,)
    UNKNOWN = (2,)
    ERROR = 3


class JsonValueOnEmptyOrError(Enum):
    """Behaviour of ``json_value`` without a value."""

    NULL = (0,)
    ERROR = (1,)
    DEFAULT = 2


class JsonQueryWrapper(Enum):
    """Condition for wrapping the result of ``json_query`` in an array."""

    WITHOUT_ARRAY = (0,)
    CONDITIONAL_ARRAY = (1,)
    UNCONDITIONAL_ARRAY = 2


class JsonQueryOnEmptyOrError(Enum):
    """Behaviour of ``json_query`` without a value."""

    NULL = (0,)
    EMPTY_ARRAY = (1,)
    EMPTY_OBJECT = (2,)
    ERROR = 3


class JsonOnNull(Enum):
    """Handling of NULL in JSON objects and arrays."""

    NULL = (0,)
    ABSENT = 1


def node_of(value: Any) -> exp.Expr:
    """Return the node of an expression, or of a constant."""
    if isinstance(value, Expression):
        return value._node
    return constant(literal(value))


def call_of(name: str, *operands: Any, options: tuple[Any, ...] = ()) -> Expression[Any]:
    """Return the call of a function that expressions have; operands that are None at the end are left out."""
    given = list(operands)
    while given and given[-1] is None:
        given.pop()
    return Expression(built_in(name, [node_of(operand) for operand in given], options))


def _plain(name: str, doc: str) -> Any:
    """Return the property that calls a function of the value alone."""

    def get(self: Expression[Any]) -> Expression[Any]:
        return call_of(name, self)

    return property(get, doc=doc)


def _summary(name: str, doc: str) -> Any:
    """Return the property that calls an aggregate function."""

    def get(self: Expression[Any]) -> Expression[Any]:
        return Expression(aggregate(name, [self._node]))

    return property(get, doc=doc)


def _window(kind: str, doc: str) -> Any:
    def get(self: Expression[Any]) -> Expression[Any]:
        return Expression(WindowProperty(this=self._node, kind=kind))

    return property(get, doc=doc)


def _duration(unit: str) -> Any:
    """Return the property that makes a number a length of time."""

    def get(self: Expression[Any]) -> Expression[Any]:
        one = months(UNIT_MONTHS[unit]) if unit in UNIT_MONTHS else length_of_time(UNIT_MS[unit])
        bound = self._node.bound if isinstance(self._node, Stand) else None
        if isinstance(bound, Literal) and isinstance(bound.value, int):
            return Expression(constant(Literal(one.data_type, bound.value * one.value)))
        return Expression(exp.Mul(this=self._node, expression=constant(one)))

    return property(get, doc=f"That many {unit.lower()}s, as a length of time.")


def _operator(node: type[exp.Expr], *, swapped: bool = False) -> Any:
    def apply(self: Expression[Any], other: Any) -> Expression[Any]:
        first, second = (node_of(other), self._node) if swapped else (self._node, node_of(other))
        return Expression(node(this=first, expression=second))

    return apply


def _power(self: Expression[Any], other: Any) -> Expression[Any]:
    return call_of("POWER", self, other)


def _rpower(self: Expression[Any], other: Any) -> Expression[Any]:
    return call_of("POWER", other, self)


class Expression(Generic[T]):
    """A value per row, made by :func:`~wiesel.table.expressions.col`, :func:`~wiesel.table.expressions.lit` and methods.

    Operators mean what they mean in SQL: ``+ - * / % **``, comparisons, ``&`` and ``|`` for AND and OR, and ``~`` for IS NOT TRUE, as in
    PyFlink. Comparisons return expressions, so expressions cannot be told apart by ``==``.

    >>> from wiesel.table.expressions import col
    >>> print((col("price") * 2).alias("twice"))
    as(times(price, 2), 'twice')
    """

    def __init__(self, node: exp.Expr, names: Sequence[str] = ()) -> None:
        self._node = node
        self._names = tuple(names)
        """All names of an alias with several."""

    __abs__ = lambda self: call_of("ABS", self)  # noqa: E731
    __eq__ = _operator(exp.EQ)
    __ne__ = _operator(exp.NEQ)
    __lt__ = _operator(exp.LT)
    __gt__ = _operator(exp.GT)
    __le__ = _operator(exp.LTE)
    __ge__ = _operator(exp.GTE)
    __and__ = _operator(exp.And)
    __or__ = _operator(exp.Or)
    __invert__ = lambda self: self.is_not_true  # noqa: E731
    __rand__ = _operator(exp.And)
    __ror__ = _operator(exp.Or)
    __add__ = _operator(Plus)
    __sub__ = _operator(exp.Sub)
    __mul__ = _operator(exp.Mul)
    __truediv__ = _operator(exp.Div)
    __mod__ = _operator(exp.Mod)
    __pow__ = _power
    __neg__ = lambda self: call_of("NEGATE", self)  # noqa: E731
    __radd__ = _operator(Plus, swapped=True)
    __rsub__ = _operator(exp.Sub, swapped=True)
    __rmul__ = _operator(exp.Mul)
    __rtruediv__ = _operator(exp.Div, swapped=True)
    __rmod__ = _operator(exp.Mod, swapped=True)
    __rpow__ = _rpower

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return expression_text(self._node)

    __repr__ = __str__

    def _as_sql(self) -> str:
        """Return the expression as a text of SQL, for schemas."""
        return sql_of(self._node)

    def __getattr__(self, name: str) -> Expression[Any]:
        if name.startswith("_"):
            raise AttributeError(f"an expression has no {name!r}")
        return self.get(name)

    def __getitem__(self, index: Any) -> Expression[Any]:
        return self.at(index)

    def __iter__(self) -> Any:
        raise program_error("an expression cannot be iterated over", "its values are known when the table is read")

    # Numbers

    exp = _plain("EXP", "e to the power of the number.")
    log10 = _plain("LOG10", "The logarithm to the base of 10.")
    log2 = _plain("LOG2", "The logarithm to the base of 2.")
    ln = _plain("LN", "The natural logarithm.")

    def log(self, base: Any = None) -> Expression[float]:
        """Return the logarithm, the natural one without a base."""
        return call_of("LOG", self) if base is None else call_of("LOG", base, self)

    cosh = _plain("COSH", "The hyperbolic cosine.")
    sinh = _plain("SINH", "The hyperbolic sine.")
    sin = _plain("SIN", "The sine.")
    cos = _plain("COS", "The cosine.")
    tan = _plain("TAN", "The tangent.")
    cot = _plain("COT", "The cotangent.")
    asin = _plain("ASIN", "The arc sine.")
    acos = _plain("ACOS", "The arc cosine.")
    atan = _plain("ATAN", "The arc tangent.")
    tanh = _plain("TANH", "The hyperbolic tangent.")
    degrees = _plain("DEGREES", "The angle in degrees of one in radians.")
    radians = _plain("RADIANS", "The angle in radians of one in degrees.")
    sqrt = _plain("SQRT", "The square root.")
    abs = _plain("ABS", "The number without its sign.")
    sign = _plain("SIGN", "-1, 0 or 1.")
    bin = _plain("BIN", "The digits of the number to the base of 2.")
    hex = _plain("HEX", "The digits of the number, or the bytes of the text, to the base of 16.")
    unhex = _plain("UNHEX", "The bytes of hexadecimal digits.")

    def round(self, places: Any) -> Expression[Any]:
        """Return the number rounded to so many places behind the point."""
        return call_of("ROUND", self, places)

    def truncate(self, n: Any = 0) -> Expression[T]:
        """Return the number with the places behind the first ``n`` left out."""
        return call_of("TRUNCATE", self, n)

    def floor(self, time_interval_unit: TimeIntervalUnit | None = None) -> Expression[Any]:
        """Return the next lower whole number, or the begin of the unit of time."""
        if time_interval_unit is None:
            return call_of("FLOOR", self)
        return call_of("FLOOR TO", self, options=(time_interval_unit.name,))

    def ceil(self, time_interval_unit: TimeIntervalUnit | None = None) -> Expression[Any]:
        """Return the next higher whole number, or the end of the unit of time."""
        if time_interval_unit is None:
            return call_of("CEIL", self)
        return call_of("CEIL TO", self, options=(time_interval_unit.name,))

    # Conditions

    def between(self, lower_bound: Any, upper_bound: Any) -> Expression[bool]:
        """Return whether the value is between two others, which count as between."""
        return Expression(exp.Between(this=self._node, low=node_of(lower_bound), high=node_of(upper_bound)))

    def not_between(self, lower_bound: Any, upper_bound: Any) -> Expression[bool]:
        """Return whether the value is not between two others."""
        return Expression(exp.Not(this=self.between(lower_bound, upper_bound)._node))

    def then(self, if_true: Any, if_false: Any) -> Expression[Any]:
        """Return the one value where this condition is true, else the other."""
        branch = exp.If(this=self._node, true=node_of(if_true))
        return Expression(exp.Case(ifs=[branch], default=node_of(if_false)))

    def if_null(self, null_replacement: Any) -> Expression[Any]:
        """Return the value, and another one in place of NULL."""
        return call_of("IFNULL", self, null_replacement)

    is_null = _plain("IS NULL", "Whether the value is NULL.")
    is_not_null = _plain("IS NOT NULL", "Whether the value is not NULL.")
    is_true = _plain("IS TRUE", "Whether the condition is true.")
    is_false = _plain("IS FALSE", "Whether the condition is false.")
    is_not_true = _plain("IS NOT TRUE", "Whether the condition is false or NULL.")
    is_not_false = _plain("IS NOT FALSE", "Whether the condition is true or NULL.")

    def in_(self, first_element_or_table: Any, *remaining_elements: Any) -> Expression[bool]:
        """Return whether the value is one of several, or of the one column of a table (in conditions of ``filter`` only)."""
        from wiesel.table.table import Table

        if isinstance(first_element_or_table, Table):
            if remaining_elements:
                raise program_error("in_() takes a table, or values", "give the table alone", ArgumentTypeError)
            return Expression(exp.In(this=self._node, query=exp.Subquery(this=stand_of(first_element_or_table._plan))))
        elements = [node_of(each) for each in (first_element_or_table, *remaining_elements)]
        return Expression(exp.In(this=self._node, expressions=elements))

    # Aggregates

    @property
    def distinct(self) -> Expression[Any]:
        """This aggregate over the different values only: ``col("a").sum.distinct``."""
        node = self._node
        if not isinstance(node, exp.Anonymous):
            return Expression(exp.Distinct(expressions=[node]))
        return Expression(exp.Anonymous(this=node.this, expressions=[exp.Distinct(expressions=list(node.expressions))]))

    sum = _summary("SUM", "The sum of all values; NULL without any.")
    sum0 = _summary("SUM0", "The sum of all values; 0 without any.")
    min = _summary("MIN", "The least value.")
    max = _summary("MAX", "The greatest value.")
    count = _summary("COUNT", "The number of values that are not NULL.")
    avg = _summary("AVG", "The mean of all values.")
    first_value = _summary("FIRST_VALUE", "The first value.")
    last_value = _summary("LAST_VALUE", "The last value.")
    stddev_pop = _summary("STDDEV_POP", "The standard deviation of a population.")
    stddev_samp = _summary("STDDEV_SAMP", "The standard deviation of a sample.")
    var_pop = _summary("VAR_POP", "The variance of a population.")
    var_samp = _summary("VAR_SAMP", "The variance of a sample.")
    collect = _summary("COLLECT", "All values, as a multiset.")
    array_agg = _summary("ARRAY_AGG", "All values, as an array.")

    def list_agg(self, separator: Any = None) -> Expression[str]:
        """Return all strings behind each other, with a comma or another separator between them."""
        operands = [self._node] if separator is None else [self._node, node_of(separator)]
        return Expression(aggregate("LISTAGG", operands))

    def percentile(self, percentage: Any, frequency: Any = None) -> Expression[Any]:
        """Return the value below which a part of the values is."""
        more = [] if frequency is None else [node_of(frequency)]
        return Expression(aggregate("PERCENTILE", [self._node, node_of(percentage), *more]))

    def over(self, alias: Any) -> Expression[Any]:
        """Return this aggregate over the rows of a window that ``Table.over_window()`` has named."""
        name = alias if isinstance(alias, str) else alias._node.name
        node = OverAlias(this=self._node, alias=name)
        node.meta["by_column"] = not isinstance(alias, str)
        return Expression(node)

    start = _window("START", "The start of the window that this is the alias of.")
    end = _window("END", "The end of the window that this is the alias of; the first moment that is not in it.")
    rowtime = _window("ROWTIME", "The time of the window that this is the alias of: the last moment that is in it.")
    proctime = _window("PROCTIME", "The processing time of the window that this is the alias of.")

    # Names, types and order

    def alias(self, name: str, *extra_names: str) -> Expression[T]:
        """Return the expression with a name; the calls of table functions have several."""
        require_instance(name, str, "a name", "give a text")
        inner = self._node.this if isinstance(self._node, exp.Alias) else self._node
        node = exp.Alias(this=inner, alias=exp.Identifier(this=name, quoted=True))
        node.meta["names"] = (name, *extra_names)
        return Expression(node, (name, *extra_names))

    def as_argument(self, name: str) -> Expression[Any]:
        """Return the expression as the argument of a name."""
        return Expression(nodes.NamedArgument(this=exp.Identifier(this=name, quoted=True), expression=self._node))

    def cast(self, data_type: t.DataType) -> Expression[Any]:
        """Return the value as one of another type; what cannot be one fails the job."""
        return self._cast("CAST", data_type)

    def try_cast(self, data_type: t.DataType) -> Expression[Any]:
        """Return the value as one of another type; NULL for what cannot be one."""
        return self._cast("TRY_CAST", data_type)

    def _cast(self, name: str, data_type: t.DataType) -> Expression[Any]:
        require_instance(data_type, t.DataType, f"{name.lower()}() takes a data type: it", "give one of DataTypes")
        return call_of(name, self, options=(data_type,))

    @property
    def asc(self) -> Expression[Any]:
        """This, as a key of ``order_by`` from low to high, NULL last (unlike in SQL)."""
        return Expression(exp.Ordered(this=self._node, desc=False, nulls_first=False))

    @property
    def desc(self) -> Expression[Any]:
        """This, as a key of ``order_by`` from high to low, NULL first (unlike in SQL)."""
        return Expression(exp.Ordered(this=self._node, desc=True, nulls_first=True))

    # Strings

    def concat(self, other: Any) -> Expression[str]:
        """Return this text with another behind it."""
        return call_of("CONCAT", self, other)

    def starts_with(self, start_expr: Any) -> Expression[Any]:
        """Return whether the text, or the bytes, begin with others."""
        return call_of("STARTSWITH", self, start_expr)

    def ends_with(self, end_expr: Any) -> Expression[Any]:
        """Return whether the text, or the bytes, end with others."""
        return call_of("ENDSWITH", self, end_expr)

    def substring(self, begin_index: Any, length: Any = None) -> Expression[str]:
        """Return the part of the text from a place (from 1 on), maybe of a length only."""
        return call_of("SUBSTRING", self, begin_index, length)

    def substr(self, begin_index: Any, length: Any = None) -> Expression[str]:
        """Return the part of the text from a place (from 1 on), maybe of a length only."""
        found = call_of("SUBSTRING", self, begin_index, length)
        found._node.meta["java_name"] = "substr"
        return found

    def trim_leading(self, character: Any = None) -> Expression[str]:
        """Return the text without blanks, or other characters, at its begin."""
        return call_of("TRIM", self, " " if character is None else character, options=("LEADING",))

    def trim_trailing(self, character: Any = None) -> Expression[str]:
        """Return the text without blanks, or other characters, at its end."""
        return call_of("TRIM", self, " " if character is None else character, options=("TRAILING",))

    def trim(self, character: Any = None) -> Expression[str]:
        """Return the text without blanks, or other characters, at its begin and end."""
        return call_of("TRIM", self, " " if character is None else character, options=("BOTH",))

    def replace(self, search: Any = None, replacement: Any = None) -> Expression[str]:
        """Return the text with one part in place of another."""
        return Expression(built_in("REPLACE", [self._node, node_of(search), node_of(replacement)]))

    def translate(self, from_str: Any, to_str: Any) -> Expression[Any]:
        """Return the text with each of some characters exchanged for the one at the same place of others."""
        return Expression(built_in("TRANSLATE", [self._node, node_of(from_str), node_of(to_str)]))

    char_length = _plain("CHAR_LENGTH", "The number of characters.")
    upper_case = _plain("UPPER", "The text in capitals.")
    lower_case = _plain("LOWER", "The text in small letters.")
    init_cap = _plain("INITCAP", "The text with a capital at the begin of each word.")

    def like(self, pattern: Any = None, escape: Any = None) -> Expression[bool]:
        """Return whether the text is like a pattern, in which ``%`` is any text and ``_`` any character."""
        return call_of("LIKE", self, pattern, escape)

    def similar(self, pattern: Any = None) -> Expression[bool]:
        """Return whether the text is like a regular expression of SQL."""
        return call_of("SIMILAR TO", self, pattern)

    def position(self, haystack: Any = None) -> Expression[int]:
        """Return the place of this text in another, from 1 on; 0 if it is not there."""
        return call_of("POSITION", self, haystack)

    def lpad(self, length: Any, pad: Any) -> Expression[str]:
        """Return the text of a length, with another in front of it."""
        return call_of("LPAD", self, length, pad)

    def rpad(self, length: Any, pad: Any) -> Expression[str]:
        """Return the text of a length, with another behind it."""
        return call_of("RPAD", self, length, pad)

    def overlay(self, new_string: Any, starting: Any, length: Any = None) -> Expression[str]:
        """Return the text with another over it from a place on."""
        return call_of("OVERLAY", self, new_string, starting, length)

    def regexp(self, regex: Any) -> Expression[str]:
        """Return whether a part of the text is like a regular expression of Java."""
        return call_of("REGEXP", self, regex)

    def regexp_count(self, regex: Any) -> Expression[Any]:
        """Return how often a regular expression is found."""
        return call_of("REGEXP_COUNT", self, regex)

    def regexp_replace(self, regex: Any, replacement: Any) -> Expression[str]:
        """Return the text with another in place of what a regular expression finds."""
        return call_of("REGEXP_REPLACE", self, regex, replacement)

    def regexp_extract(self, regex: Any, extract_index: Any = None) -> Expression[str]:
        """Return what a regular expression finds, or a group of it."""
        return call_of("REGEXP_EXTRACT", self, regex, extract_index)

    def regexp_extract_all(self, regex: Any, extract_index: Any = None) -> Expression[Any]:
        """Return all that a regular expression finds, or a group of each."""
        return call_of("REGEXP_EXTRACT_ALL", self, regex, extract_index)

    def regexp_instr(self, regex: Any) -> Expression[Any]:
        """Return the place of what a regular expression finds first."""
        return call_of("REGEXP_INSTR", self, regex)

    def regexp_substr(self, regex: Any) -> Expression[Any]:
        """Return what a regular expression finds first."""
        return call_of("REGEXP_SUBSTR", self, regex)

    from_base64 = _plain("FROM_BASE64", "The text that is written in Base64.")
    to_base64 = _plain("TO_BASE64", "The text in Base64.")
    ascii = _plain("ASCII", "The number of the first character.")
    chr = _plain("CHR", "The character of the number.")
    reverse = _plain("REVERSE", "The text from its end to its begin.")

    def decode(self, charset: Any) -> Expression[str]:
        """Return the text of bytes in a character set."""
        return call_of("DECODE", self, charset)

    def encode(self, charset: Any) -> Expression[bytes]:
        """Return the bytes of the text in a character set."""
        return call_of("ENCODE", self, charset)

    def left(self, length: Any) -> Expression[str]:
        """Return the first characters."""
        return call_of("LEFT", self, length)

    def right(self, length: Any) -> Expression[str]:
        """Return the last characters."""
        return call_of("RIGHT", self, length)

    def instr(self, s: Any) -> Expression[int]:
        """Return the place of another text in this one, from 1 on; 0 if it is not there."""
        return call_of("INSTR", self, s)

    def locate(self, s: Any, pos: Any = None) -> Expression[int]:
        """Return the place of this text in another, maybe from a place on; 0 if it is not there."""
        return call_of("LOCATE", self, s, pos)

    def url_decode(self) -> Expression[str]:
        """Return the text of one for addresses of the web."""
        return call_of("URL_DECODE", self)

    def url_encode(self) -> Expression[str]:
        """Return the text as it is written in addresses of the web."""
        return call_of("URL_ENCODE", self)

    def inet_aton(self) -> Expression[Any]:
        """Return the number of an IPv4 address."""
        return call_of("INET_ATON", self)

    def inet_ntoa(self) -> Expression[str]:
        """Return the IPv4 address of a number."""
        return call_of("INET_NTOA", self)

    def parse_url(self, part_to_extract: Any, key: Any = None) -> Expression[str]:
        """Return a part of an address of the web: ``HOST``, ``PATH``, ``QUERY`` ..., or the value of a key of its query."""
        return call_of("PARSE_URL", self, part_to_extract, key)

    def printf(self, *obj: Any) -> Expression[Any]:
        """Return this format with values in it."""
        return Expression(built_in("PRINTF", [self._node, *map(node_of, obj)]))

    def ltrim(self, trim_str: Any = None) -> Expression[str]:
        """Return the text without blanks, or the characters of another, at its begin."""
        return call_of("LTRIM", self, trim_str)

    def rtrim(self, trim_str: Any = None) -> Expression[str]:
        """Return the text without blanks, or the characters of another, at its end."""
        return call_of("RTRIM", self, trim_str)

    def btrim(self, trim_str: Any = None) -> Expression[Any]:
        """Return the text without blanks, or the characters of another, at its begin and end."""
        return call_of("BTRIM", self, trim_str)

    def repeat(self, n: Any) -> Expression[str]:
        """Return the text so many times."""
        return call_of("REPEAT", self, n)

    def split_index(self, separator: Any, index: Any) -> Expression[str]:
        """Return a part of the text between separators, by its place from 0 on."""
        return call_of("SPLIT_INDEX", self, separator, index)

    def str_to_map(self, list_delimiter: Any = None, key_value_delimiter: Any = None) -> Expression[dict[str, str]]:
        """Return the keys and values that the text lists."""
        if list_delimiter is None or key_value_delimiter is None:
            return call_of("STR_TO_MAP", self)
        return call_of("STR_TO_MAP", self, list_delimiter, key_value_delimiter)

    def elt(self, expr: Any, *exprs: Any) -> Expression[Any]:
        """Return the text at this place, from 1 on."""
        return Expression(built_in("ELT", [self._node, node_of(expr), *map(node_of, exprs)]))

    def split(self, delimiter: Any) -> Expression[Any]:
        """Return the parts of the text between delimiters, as an array."""
        return call_of("SPLIT", self, delimiter)

    md5 = _plain("MD5", "The hash MD5, as 32 hexadecimal digits.")
    sha1 = _plain("SHA1", "The hash SHA-1, as 40 hexadecimal digits.")
    sha224 = _plain("SHA224", "The hash SHA-224, as 56 hexadecimal digits.")
    sha256 = _plain("SHA256", "The hash SHA-256, as 64 hexadecimal digits.")
    sha384 = _plain("SHA384", "The hash SHA-384, as 96 hexadecimal digits.")
    sha512 = _plain("SHA512", "The hash SHA-512, as 128 hexadecimal digits.")

    def sha2(self, hash_length: Any) -> Expression[str]:
        """Return a hash of the family SHA-2 of so many bits."""
        return call_of("SHA2", self, hash_length)

    # Time

    @property
    def to_date(self) -> Expression[Any]:
        """The date of a text such as ``2024-12-31``."""
        return self._cast("CAST", t.DateType())

    @property
    def to_time(self) -> Expression[Any]:
        """The time of day of a text such as ``23:59:59``."""
        return self._cast("CAST", t.TimeType(0))

    @property
    def to_timestamp(self) -> Expression[Any]:
        """The time of a text such as ``2024-12-31 23:59:59``."""
        return self._cast("CAST", t.TimestampType(3))

    def extract(self, time_interval_unit: TimeIntervalUnit) -> Expression[Any]:
        """Return a part of a time, such as its minute."""
        return call_of("EXTRACT", self, options=(time_interval_unit.name,))

    year = years = _duration("YEAR")
    quarter = quarters = _duration("QUARTER")
    month = months = _duration("MONTH")
    week = weeks = _duration("WEEK")
    day = days = _duration("DAY")
    hour = hours = _duration("HOUR")
    minute = minutes = _duration("MINUTE")
    second = seconds = _duration("SECOND")
    milli = millis = _duration("MILLISECOND")

    # Collections

    def get(self, name_or_index: str | int) -> Expression[Any]:
        """Return a field of a row by its name, or its place from 0 on."""
        if isinstance(name_or_index, int):
            return Expression(FieldAt(this=self._node, place=name_or_index))
        return Expression(exp.Dot(this=self._node, expression=exp.Identifier(this=name_or_index, quoted=True)))

    @property
    def flatten(self) -> Expression[Any]:
        """All fields of a row, as columns of their own."""
        return Expression(built_in("FLATTEN", [self._node]))

    def at(self, index: Any) -> Expression[Any]:
        """Return the element of an array at a place from 1 on, or the value of a map's key."""
        return call_of("ITEM", self, index)

    cardinality = _plain("CARDINALITY", "The number of elements.")
    element = _plain("ELEMENT", "The only element of an array; NULL of an empty one.")
    map_keys = _plain("MAP_KEYS", "The keys of a map, as an array.")
    map_values = _plain("MAP_VALUES", "The values of a map, as an array.")
    map_entries = _plain("MAP_ENTRIES", "The entries of a map, as an array of rows.")

    def array_append(self, addition: Any) -> Expression[Any]:
        """Return the array with an element behind it."""
        return Expression(built_in("ARRAY_APPEND", [self._node, node_of(addition)]))

    def array_contains(self, needle: Any) -> Expression[Any]:
        """Return whether a value is among the elements."""
        return Expression(built_in("ARRAY_CONTAINS", [self._node, node_of(needle)]))

    def array_distinct(self) -> Expression[Any]:
        """Return the array with each element once."""
        return call_of("ARRAY_DISTINCT", self)

    def array_position(self, needle: Any) -> Expression[Any]:
        """Return the place of a value among the elements, from 1 on; 0 if it is not there."""
        return Expression(built_in("ARRAY_POSITION", [self._node, node_of(needle)]))

    def array_prepend(self, addition: Any) -> Expression[Any]:
        """Return the array with an element in front of it."""
        return Expression(built_in("ARRAY_PREPEND", [self._node, node_of(addition)]))

    def array_remove(self, needle: Any) -> Expression[Any]:
        """Return the array without the elements of a value."""
        return Expression(built_in("ARRAY_REMOVE", [self._node, node_of(needle)]))

    def array_reverse(self) -> Expression[Any]:
        """Return the array from its end to its begin."""
        return call_of("ARRAY_REVERSE", self)

    def array_slice(self, start_offset: Any, end_offset: Any = None) -> Expression[Any]:
        """Return the elements from a place (from 1 on) to another."""
        return call_of("ARRAY_SLICE", self, start_offset, end_offset)

    def array_sort(self, ascending_order: Any = None, null_first: Any = None) -> Expression[Any]:
        """Return the array in order."""
        return call_of("ARRAY_SORT", self, ascending_order, null_first)

    def array_union(self, array: Any) -> Expression[Any]:
        """Return the different elements of this array and another."""
        return call_of("ARRAY_UNION", self, array)

    def array_concat(self, *arrays: Any) -> Expression[Any]:
        """Return the array with others behind it."""
        return call_of("ARRAY_CONCAT", self, *arrays)

    def array_max(self) -> Expression[Any]:
        """Return the greatest element."""
        return call_of("ARRAY_MAX", self)

    def array_join(self, delimiter: Any, null_replacement: Any = None) -> Expression[Any]:
        """Return the strings of an array behind each other."""
        return call_of("ARRAY_JOIN", self, delimiter, null_replacement)

    def array_min(self) -> Expression[Any]:
        """Return the least element."""
        return call_of("ARRAY_MIN", self)

    def array_except(self, array: Any) -> Expression[Any]:
        """Return the elements that are not in another array."""
        return call_of("ARRAY_EXCEPT", self, array)

    def array_intersect(self, array: Any) -> Expression[Any]:
        """Return the elements that are in another array too."""
        return call_of("ARRAY_INTERSECT", self, array)

    def map_union(self, *maps: Any) -> Expression[Any]:
        """Return the entries of this map and others."""
        return call_of("MAP_UNION", self, *maps)

    def object_update(self, *kv: Any) -> Expression[Any]:
        """Return a structured object with other values of some fields: names and values by turns."""
        return Expression(built_in("OBJECT_UPDATE", [self._node, *map(node_of, kv)]))

    # JSON

    def is_json(self, json_type: JsonType | None = None) -> Expression[bool]:
        """Return whether the text is JSON, maybe of a kind."""
        return call_of("IS JSON", self, options=((json_type or JsonType.VALUE).name,))

    def json_exists(self, path: str, on_error: JsonExistsOnError | None = None) -> Expression[bool]:
        """Return whether there is something at a path in JSON."""
        words = [] if on_error is None else [f"{on_error.name} ON ERROR"]
        return Expression(json_call("JSON_EXISTS", [self._node, node_of(path)], words))

    def json_value(
        self,
        path: str,
        returning_type: t.DataType = DataTypes.STRING(),  # noqa: B008 - PyFlink's default
        on_empty: JsonValueOnEmptyOrError = JsonValueOnEmptyOrError.NULL,
        default_on_empty: Any = None,
        on_error: JsonValueOnEmptyOrError = JsonValueOnEmptyOrError.NULL,
        default_on_error: Any = None,
    ) -> Expression[Any]:
        """Return the single value at a path in JSON."""
        words: list[str] = []
        defaults: list[exp.Expr] = []
        for what, default, when in ((on_empty, default_on_empty, "EMPTY"), (on_error, default_on_error, "ERROR")):
            if what is JsonValueOnEmptyOrError.DEFAULT:
                words += ["DEFAULT", f"ON {when}"]
                defaults.append(node_of(default))
            else:
                words.append(f"{what.name} ON {when}")
        return Expression(json_call("JSON_VALUE", [self._node, node_of(path)], words, returning_type, defaults))

    def json_query(
        self,
        path: str,
        wrapping_behavior: JsonQueryWrapper = JsonQueryWrapper.WITHOUT_ARRAY,
        on_empty: JsonQueryOnEmptyOrError = JsonQueryOnEmptyOrError.NULL,
        on_error: JsonQueryOnEmptyOrError = JsonQueryOnEmptyOrError.NULL,
    ) -> Expression[Any]:
        """Return the object or array at a path in JSON, as text."""
        wrapper = wrapping_behavior.name.replace("_", " ")
        words = [f"{wrapper} WRAPPER" if wrapper.startswith("WITHOUT") else f"WITH {wrapper} WRAPPER"]
        words += [f"{what.name.replace('_', ' ')} ON {when}" for what, when in ((on_empty, "EMPTY"), (on_error, "ERROR"))]
        return Expression(json_call("JSON_QUERY", [self._node, node_of(path)], words))

    def json_quote(self) -> Expression[Any]:
        """Return the text as one of JSON, between quotes."""
        return call_of("JSON_QUOTE", self)

    def json_unquote(self) -> Expression[Any]:
        """Return the text that JSON has between quotes."""
        return call_of("JSON_UNQUOTE", self)

    # Bitmaps

    def bitmap_and(self, bitmap2: Any) -> Expression[Any]:
        """Return the numbers that are in both bitmaps."""
        return call_of("BITMAP_AND", self, bitmap2)

    def bitmap_andnot(self, bitmap2: Any) -> Expression[Any]:
        """Return the numbers that are in this bitmap only."""
        return call_of("BITMAP_ANDNOT", self, bitmap2)

    def bitmap_and_agg(self) -> Expression[Any]:
        """Return the numbers that are in all bitmaps."""
        return Expression(aggregate("BITMAP_AND_AGG", [self._node]))

    def bitmap_and_cardinality_agg(self) -> Expression[Any]:
        """Return how many numbers are in all bitmaps."""
        return Expression(aggregate("BITMAP_AND_CARDINALITY_AGG", [self._node]))

    def bitmap_build(self) -> Expression[Any]:
        """Return the bitmap of an array of numbers."""
        return call_of("BITMAP_BUILD", self)

    def bitmap_build_agg(self) -> Expression[Any]:
        """Return the bitmap of all numbers."""
        return Expression(aggregate("BITMAP_BUILD_AGG", [self._node]))

    def bitmap_build_cardinality_agg(self) -> Expression[Any]:
        """Return how many different numbers there are."""
        return Expression(aggregate("BITMAP_BUILD_CARDINALITY_AGG", [self._node]))

    def bitmap_cardinality(self) -> Expression[Any]:
        """Return how many numbers a bitmap has."""
        return call_of("BITMAP_CARDINALITY", self)

    def bitmap_from_bytes(self) -> Expression[Any]:
        """Return the bitmap of bytes."""
        return call_of("BITMAP_FROM_BYTES", self)

    def bitmap_or(self, bitmap2: Any) -> Expression[Any]:
        """Return the numbers that are in either bitmap."""
        return call_of("BITMAP_OR", self, bitmap2)

    def bitmap_or_agg(self) -> Expression[Any]:
        """Return the numbers that are in any bitmap."""
        return Expression(aggregate("BITMAP_OR_AGG", [self._node]))

    def bitmap_or_cardinality_agg(self) -> Expression[Any]:
        """Return how many numbers are in any bitmap."""
        return Expression(aggregate("BITMAP_OR_CARDINALITY_AGG", [self._node]))

    def bitmap_to_array(self) -> Expression[Any]:
        """Return the numbers of a bitmap, as an array."""
        return call_of("BITMAP_TO_ARRAY", self)

    def bitmap_to_bytes(self) -> Expression[Any]:
        """Return the bytes of a bitmap."""
        return call_of("BITMAP_TO_BYTES", self)

    def bitmap_to_string(self) -> Expression[Any]:
        """Return the numbers of a bitmap, as text."""
        return call_of("BITMAP_TO_STRING", self)

    def bitmap_xor(self, bitmap2: Any) -> Expression[Any]:
        """Return the numbers that are in one of the bitmaps only."""
        return call_of("BITMAP_XOR", self, bitmap2)

    def bitmap_xor_agg(self) -> Expression[Any]:
        """Return the numbers that are in an odd number of bitmaps."""
        return Expression(aggregate("BITMAP_XOR_AGG", [self._node]))

    def bitmap_xor_cardinality_agg(self) -> Expression[Any]:
        """Return how many numbers are in an odd number of bitmaps."""
        return Expression(aggregate("BITMAP_XOR_CARDINALITY_AGG", [self._node]))
