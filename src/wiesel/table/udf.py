"""Functions of users: scalar ones, those that return tables, and aggregates of both kinds, under the names of ``pyflink.table.udf``."""

from __future__ import annotations

import abc
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from wiesel.columnar.aggregates.user_aggregates import UserAggregate
from wiesel.columnar.functions.user_contexts import FunctionContext, FunctionLife
from wiesel.columnar.functions.user_functions import UserFunction
from wiesel.core.errors import ArgumentTypeError, ArgumentValueError
from wiesel.sql.catalog.user_functions import UserTableFunction
from wiesel.table.expression import Expression
from wiesel.table.expressions import call
from wiesel.types.logical import ArrayType, DataType, RowField, RowType, contains
from wiesel.types.logical_parser import parse_data_type
from wiesel.types.logical_variant import VariantType
from wiesel.types.row import Row

__all__ = [
    "AggregateFunction",
    "AsyncScalarFunction",
    "FunctionContext",
    "ScalarFunction",
    "TableAggregateFunction",
    "TableFunction",
    "udaf",
    "udf",
    "udtaf",
    "udtf",
]

T = TypeVar("T")
ACC = TypeVar("ACC")


class UserDefinedFunction(abc.ABC):  # noqa: B024 - its methods all have a default
    """A function of the user with a life of its own."""

    def open(self, function_context: FunctionContext) -> None:
        """Prepare for calls; called once in each process that calls the function."""

    def close(self) -> None:
        """Let go of what :meth:`open` has taken; called in each process when the last of its tasks that called the function ends."""

    def is_deterministic(self) -> bool:
        """Return whether the function returns the same for the same arguments."""
        return True


class ScalarFunction(UserDefinedFunction):
    """A function that returns one value for the values of a row."""

    @abc.abstractmethod
    def eval(self, *args: Any) -> Any:
        """Return the value for arguments."""


class AsyncScalarFunction(UserDefinedFunction):
    """A function that waits for the value of a row, while others are asked for theirs."""

    @abc.abstractmethod
    async def eval(self, *args: Any) -> Any:
        """Return the value for arguments."""


class TableFunction(UserDefinedFunction):
    """A function that returns rows for the values of a row."""

    @abc.abstractmethod
    def eval(self, *args: Any) -> Any:
        """Return an iterator, a list or a range of rows (``Row``, tuple, or the value of the only column), one row, or None."""


class ImperativeAggregateFunction(UserDefinedFunction, Generic[T, ACC]):
    """Base of both kinds of aggregate functions."""

    @abc.abstractmethod
    def create_accumulator(self) -> ACC:
        """Return what is remembered of a group without rows; it is changed in place, and must be picklable."""

    @abc.abstractmethod
    def accumulate(self, accumulator: ACC, *args: Any) -> None:
        """Add a row to an accumulator."""

    def retract(self, accumulator: ACC, *args: Any) -> None:
        """Retract a row from an accumulator; required if rows of the input may be retracted."""
        raise RuntimeError("Method retract is not implemented")

    def merge(self, accumulator: ACC, accumulators: Any) -> None:
        """Add other accumulators to one. It is not called here: groups are not aggregated in parts."""
        raise RuntimeError("Method merge is not implemented")

    def get_result_type(self) -> DataType | str:
        """Return the type of the result, if ``udaf`` is not given one."""
        raise RuntimeError("Method get_result_type is not implemented")

    def get_accumulator_type(self) -> DataType | str:
        """Return the type of the accumulator. It is not needed here: any picklable object will do."""
        raise RuntimeError("Method get_accumulator_type is not implemented")


class AggregateFunction(ImperativeAggregateFunction[T, ACC]):
    """A function that returns one value for all rows of a group."""

    @abc.abstractmethod
    def get_value(self, accumulator: ACC) -> T:
        """Return the result of an accumulator."""


class TableAggregateFunction(ImperativeAggregateFunction[T, ACC]):
    """A function that returns rows for all rows of a group."""

    @abc.abstractmethod
    def emit_value(self, accumulator: ACC) -> Iterable[T]:
        """Return the rows of an accumulator, each as a ``Row``."""


# What udf() and its like return


class UserDefinedFunctionWrapper:
    """A function with its types, to be called in expressions and to be given a name in queries.

    Attributes:
        function: What expressions call.
    """

    function: Any

    def __init__(self, func: Any, input_types: Any, func_type: str, deterministic: bool | None = None, name: str | None = None) -> None:
        if inspect.isclass(func):
            raise ArgumentTypeError(f"{func!r} is a class", hint=f"give an instance: {func.__name__}()")
        if not isinstance(func, UserDefinedFunction) and not callable(func):
            raise ArgumentTypeError(f"{func!r} is no function", hint="give a function, or an instance of a class such as ScalarFunction")
        self._func = func
        self._input_types = None if input_types is None else tuple(_type_of(of, "an input type") for of in _listed(input_types))
        self._func_type = func_type
        self._deterministic = _is_deterministic(func, deterministic)
        self._name = name or str(getattr(func, "__name__", type(func).__name__))
        self._alias_names: tuple[str, ...] = ()
        self._takes_row_as_input = False

    def __call__(self, *args: Any) -> Expression[Any]:
        """Return the call of the function with expressions or constants."""
        return call(self, *args)

    def alias(self, *alias_names: str) -> UserDefinedFunctionWrapper:
        """Name the columns that the function returns, where a table takes the function itself; returns the function."""
        self._alias_names = alias_names
        return self

    @property
    def _life(self) -> FunctionLife:
        own = isinstance(self._func, UserDefinedFunction)
        return FunctionLife(self._func.open, self._func.close) if own else FunctionLife(None, None)


class UserDefinedScalarFunctionWrapper(UserDefinedFunctionWrapper):
    """The result of :func:`udf`."""

    function: UserFunction

    def __init__(self, func: Any, input_types: Any, result_type: Any, func_type: str, deterministic: bool | None, name: str | None) -> None:
        super().__init__(func, input_types, func_type, deterministic, name)
        self._result_type = _result_of(result_type)
        compute = func.eval if isinstance(func, ScalarFunction | AsyncScalarFunction) else func
        if not callable(compute):
            raise ArgumentTypeError(f"{func!r} is no scalar function", hint="give a function, or an instance of a ScalarFunction")
        self.function = UserFunction(self._name, compute, self._result_type, self._input_types, self._kind, self._deterministic, self._life)

    @property
    def _kind(self) -> Any:
        return self._func_type


class UserDefinedAsyncScalarFunctionWrapper(UserDefinedScalarFunctionWrapper):
    """The result of :func:`udf` for asynchronous functions."""

    @property
    def _kind(self) -> Any:
        return "async"


class UserDefinedTableFunctionWrapper(UserDefinedFunctionWrapper):
    """The result of :func:`udtf`."""

    function: UserTableFunction

    def __init__(self, func: Any, input_types: Any, result_types: Any, deterministic: bool | None = None, name: str | None = None) -> None:
        super().__init__(func, input_types, "general", deterministic, name)
        types = [_result_of(of) for of in _listed(result_types)]
        row = result_types if isinstance(result_types, RowType) else RowType([RowField(f"f{i}", of) for i, of in enumerate(types)])
        self._result_types = row
        compute = _Rows(func.eval if isinstance(func, TableFunction) else func, len(row))
        result = ArrayType(row.not_null(), False)
        listing = UserFunction(self._name, compute, result, self._input_types, "general", self._deterministic, self._life)
        self.function = UserTableFunction(listing, row)


class _Rows:
    """Makes a list of what a table function returns."""

    def __init__(self, compute: Callable[..., Any], width: int) -> None:
        self._compute = compute
        self._width = width

    def __call__(self, *args: Any) -> list[Any]:
        found = self._compute(*args)
        if found is None:
            return []
        every = found if isinstance(found, list | range | Iterator) else [found]
        return [value if isinstance(value, tuple | Row) else (value,) for value in every]


class UserDefinedAggregateFunctionWrapper(UserDefinedFunctionWrapper):
    """The result of :func:`udaf` and :func:`udtaf`."""

    function: UserAggregate

    def __init__(
        self,
        func: Any,
        input_types: Any,
        result_type: Any,
        accumulator_type: Any,
        func_type: str,
        deterministic: bool | None,
        name: str | None,
        is_table_aggregate: bool = False,
    ) -> None:
        super().__init__(func, input_types, func_type, deterministic, name)
        wanted = TableAggregateFunction if is_table_aggregate else AggregateFunction
        is_own = isinstance(func, wanted)
        if func_type == "general" and not is_own:
            hint = f"give an instance of one, or func_type='pandas' for {self._name}"
            raise ArgumentTypeError(f"{func!r} is no {wanted.__name__}", hint=hint)
        self._result_type = _result_of(func.get_result_type() if result_type is None and is_own else result_type)
        if accumulator_type is not None:
            _type_of(accumulator_type, "the accumulator type")
        self._accumulator_type = accumulator_type
        own = getattr(type(func), "retract", None)
        self.function = UserAggregate(
            self._name,
            _OfPandas(func) if func_type == "pandas" and is_own else func,
            self._result_type,
            self._input_types,
            func_type,  # type: ignore[arg-type]
            retracts=own is not None and own is not ImperativeAggregateFunction.retract,
            of_tables=is_table_aggregate,
            life=self._life,
        )


class _OfPandas:
    """Calls the methods of an aggregate function with all rows of a group at once."""

    def __init__(self, function: AggregateFunction[Any, Any]) -> None:
        self._function = function

    def __call__(self, *args: Any) -> Any:
        accumulator = self._function.create_accumulator()
        self._function.accumulate(accumulator, *args)
        return self._function.get_value(accumulator)


def _listed(types: Any) -> Sequence[Any]:
    if isinstance(types, RowType):
        return [field.data_type for field in types]
    return types if isinstance(types, list | tuple) else [types]


def _type_of(given: Any, what: str) -> DataType:
    if isinstance(given, str):
        return parse_data_type(given)
    if not isinstance(given, DataType):
        raise ArgumentTypeError(f"{what} of a function is {given!r}", hint="give a data type, such as DataTypes.BIGINT() or 'BIGINT'")
    return given


def _result_of(given: Any) -> DataType:
    found = _type_of(given, "the result type")
    if contains(found, VariantType):
        raise ArgumentTypeError("a function cannot return values of type VARIANT", hint="let it return the text of JSON: PARSE_JSON(f(x))")
    return found


def _is_deterministic(function: Any, given: bool | None) -> bool:
    own = function.is_deterministic() if isinstance(function, UserDefinedFunction) else True
    if given is not None and isinstance(function, UserDefinedFunction) and given != own:
        raise ArgumentValueError(f"deterministic is {given}, the function itself says {own}", hint="leave deterministic out")
    return own if given is None else given


def _instance(given: Any) -> Any:
    """Return an instance of a class of functions, anything else as it is."""
    return given() if inspect.isclass(given) and issubclass(given, UserDefinedFunction) else given


def _check_kind(func_type: str, kinds: Sequence[str]) -> None:
    if func_type not in kinds:
        raise ArgumentValueError(f"the kind of function is {func_type!r}", hint=f"give one of {', '.join(map(repr, kinds))}")


def udf(
    f: Any = None,
    input_types: Any = None,
    result_type: Any = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> Any:
    """Return a function, :class:`ScalarFunction` or :class:`AsyncScalarFunction` with its types; without ``f`` a decorator.

    Args:
        f: The function; one with ``async`` is called for several rows at the same time.
        input_types: The types of its arguments; without them it gets what comes.
        result_type: The type of what it returns, as a data type or in the notation of SQL.
        deterministic: Whether it returns the same for the same arguments; True unless the function says something else.
        name: What it is called in messages.
        func_type: ``general`` calls it with the values of each row, ``pandas`` with a ``pandas.Series`` per argument for many rows at once,
            ``arrow`` with a ``pyarrow.Array`` (which PyFlink has not).

    Raises:
        ProgramError: If it is no function, or its types cannot be read.
    """
    _check_kind(func_type, ("general", "pandas", "arrow"))
    if f is None:
        return functools.partial(
            udf, input_types=input_types, result_type=result_type, deterministic=deterministic, name=name, func_type=func_type
        )
    f = _instance(f)
    if isinstance(f, AsyncScalarFunction) or inspect.iscoroutinefunction(f):
        _check_kind(func_type, ("general",))
        return UserDefinedAsyncScalarFunctionWrapper(f, input_types, result_type, func_type, deterministic, name)
    return UserDefinedScalarFunctionWrapper(f, input_types, result_type, func_type, deterministic, name)


def udtf(
    f: Any = None, input_types: Any = None, result_types: Any = None, deterministic: bool | None = None, name: str | None = None
) -> Any:
    """Return a function or :class:`TableFunction` that returns rows; without ``f`` a decorator.

    Args:
        f: The function.
        input_types: The types of its arguments; without them it gets what comes.
        result_types: The types of the columns that it returns; a row type gives them names, too.
        deterministic: Whether it returns the same for the same arguments.
        name: What it is called in messages.
    """
    if f is None:
        return functools.partial(udtf, input_types=input_types, result_types=result_types, deterministic=deterministic, name=name)
    f = _instance(f)
    return UserDefinedTableFunctionWrapper(f, input_types, result_types, deterministic, name)


def udaf(
    f: Any = None,
    input_types: Any = None,
    result_type: Any = None,
    accumulator_type: Any = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> Any:
    """Return an :class:`AggregateFunction`, or a function of pandas, with its types; without ``f`` a decorator.

    Args:
        f: The function.
        input_types: The types of its arguments; without them it gets what comes.
        result_type: The type of the result; without it the function is asked.
        accumulator_type: Not needed here.
        deterministic: Whether it returns the same for the same arguments.
        name: What it is called in messages.
        func_type: ``general``, or ``pandas`` for a function that gets a ``pandas.Series`` per argument with all rows of the group.
    """
    _check_kind(func_type, ("general", "pandas"))
    return _aggregate(f, input_types, result_type, accumulator_type, func_type, deterministic, name, is_table_aggregate=False)


def udtaf(
    f: Any = None,
    input_types: Any = None,
    result_type: Any = None,
    accumulator_type: Any = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> Any:
    """Return a :class:`TableAggregateFunction` with its types; without ``f`` a decorator. The arguments are those of :func:`udaf`."""
    _check_kind(func_type, ("general",))
    return _aggregate(f, input_types, result_type, accumulator_type, func_type, deterministic, name, is_table_aggregate=True)


def _aggregate(
    f: Any,
    input_types: Any,
    result_type: Any,
    accumulator_type: Any,
    func_type: str,
    deterministic: bool | None,
    name: str | None,
    *,
    is_table_aggregate: bool,
) -> Any:
    def make(given: Any) -> UserDefinedAggregateFunctionWrapper:
        return UserDefinedAggregateFunctionWrapper(
            _instance(given), input_types, result_type, accumulator_type, func_type, deterministic, name, is_table_aggregate
        )

    return make if f is None else make(f)
