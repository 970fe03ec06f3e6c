"""Process table functions: functions of users that take tables and return rows, with state and timers per key.

PyFlink has no such functions; names and rules are those of Flink's ``ProcessTableFunction`` in Java.
"""

from __future__ import annotations

import abc
import inspect
from collections.abc import Sequence
from typing import Any

from wiesel.columnar.functions.user_contexts import FunctionLife
from wiesel.core.durations import to_millis
from wiesel.core.errors import ProgramError
from wiesel.runtime.table.process.function import Context, TableSemantics, TimeContext
from wiesel.runtime.table.process.spec import ArgumentTrait, ProcessArgument, ProcessState, SortDirection, UserProcessFunction
from wiesel.spi.table.changelog_mode import ChangelogMode
from wiesel.sql.plan.user_relations import ChangelogContext
from wiesel.table.data_view import ListView, MapView
from wiesel.table.udf import UserDefinedFunction
from wiesel.types.logical import DataType, ListViewType, MapViewType, RowField, RowType
from wiesel.types.logical_conversion import to_type_info
from wiesel.types.logical_parser import parse_data_type
from wiesel.types.records import is_record_class
from wiesel.types.typeinfo import TypeInformation
from wiesel.types.types import Types

__all__ = [
    "ArgumentHint",
    "ArgumentTrait",
    "ChangelogContext",
    "ChangelogFunction",
    "Context",
    "ProcessTableFunction",
    "SortDirection",
    "StateHint",
    "TableSemantics",
    "TimeContext",
    "UserDefinedProcessTableFunctionWrapper",
    "udptf",
]


class ProcessTableFunction(UserDefinedFunction):
    """A function that takes tables, and returns rows for their rows and for timers.

    ``eval(self, [ctx,] state..., argument...)`` is called with each row of a table; other tables are None. It returns what a table function
    does: an iterator or a list of rows, one row, or None. ``on_timer(self, [ctx,] state...)`` is called when a timer fires.
    """

    @abc.abstractmethod
    def eval(self, *args: Any) -> Any:
        """Return the rows for a row of a table."""


class ChangelogFunction(abc.ABC):
    """A process table function that returns updates and deletions: rows whose kind is that of a change.

    The rows of a function that is none are new ones.
    """

    @abc.abstractmethod
    def get_changelog_mode(self, changelog_context: ChangelogContext) -> ChangelogMode:
        """Return which changes the function returns; called when a query is planned, also several times.

        With ``ChangelogMode.all()`` each ``+U`` or ``-D`` row is preceded or accompanied by the row that it replaces or deletes. With
        ``ChangelogMode.upsert()`` there are no ``-U`` rows: the columns of PARTITION BY are the key by which rows are found again.
        ``changelog_context.get_required_changelog_mode()`` is what the readers need.
        """


class ArgumentHint:
    """Declares an argument.

    Args:
        name: Its name.
        traits: What it is: :class:`ArgumentTrait`, a value without any.
        data_type: The type of a value; of a table none is needed.
        is_optional: Whether a value may be left out; it is None then.

    Raises:
        ProgramError: If the traits contradict each other, or a value has no type.
    """

    def __init__(self, name: str, *traits: ArgumentTrait, data_type: DataType | str | None = None, is_optional: bool = False) -> None:
        given = frozenset(traits)
        roots = [trait for trait in given if trait.is_table]
        needs_set = {ArgumentTrait.OPTIONAL_PARTITION_BY, ArgumentTrait.SUPPORT_UPDATES, ArgumentTrait.REQUIRE_UPDATE_BEFORE}
        if len(roots) > 1 or (ArgumentTrait.SCALAR in given and len(given) > 1):
            raise ProgramError(f"the argument {name!r} is several things at once", hint="give one of SCALAR, ROW_ and SET_SEMANTIC_TABLE")
        if not roots and data_type is None:
            raise ProgramError(
                f"the argument {name!r} is a value without a type", hint="give data_type=..., or ArgumentTrait.SET_SEMANTIC_TABLE"
            )
        if given & {ArgumentTrait.OPTIONAL_PARTITION_BY} and ArgumentTrait.SET_SEMANTIC_TABLE not in given:
            raise ProgramError(f"the argument {name!r} has no partitions", hint="OPTIONAL_PARTITION_BY is for SET_SEMANTIC_TABLE")
        if not roots and given & (needs_set | {ArgumentTrait.PASS_COLUMNS_THROUGH, ArgumentTrait.REQUIRE_ON_TIME}):
            raise ProgramError(f"the argument {name!r} is no table", hint="give ArgumentTrait.SET_SEMANTIC_TABLE or ROW_SEMANTIC_TABLE")
        if {ArgumentTrait.SUPPORT_UPDATES, ArgumentTrait.PASS_COLUMNS_THROUGH} <= given:
            raise ProgramError(f"the argument {name!r} takes updates, and passes columns through", hint="leave one of them out")
        of = parse_data_type(data_type) if isinstance(data_type, str) else data_type
        self._argument = ProcessArgument(name, given, of, is_optional)


class StateHint:
    """Declares a state entry, which is kept per key.

    Args:
        name: Its name.
        data_type: A row type: the function gets a ``Row``, all NULL at first, and sets its fields. A class that can be made without
            arguments, such as a dataclass with defaults: the function gets an object, and sets its attributes; it must be picklable.
            ``DataTypes.LIST_VIEW(...)`` or ``DataTypes.MAP_VIEW(...)``: a list or map that is read and written entry by entry;
            ``ListView`` or ``MapView`` for one of any values.
        ttl: After which time without a change it is forgotten (``"1 day"``), 0 for never; without it as ``table.exec.state.ttl`` says.

    Raises:
        ProgramError: If the type is no such type.
    """

    def __init__(self, name: str, data_type: Any, ttl: Any = None) -> None:
        millis = None if ttl is None else to_millis(ttl)
        of = parse_data_type(data_type) if isinstance(data_type, str) else data_type
        if of in (ListView, MapView):
            self._state = ProcessState(name, "list" if of is ListView else "map", ttl_ms=millis)
        elif isinstance(of, ListViewType):
            self._state = ProcessState(name, "list", ttl_ms=millis, type_info=Types.LIST(_type_info(of.element_type)))
        elif isinstance(of, MapViewType):
            info = Types.MAP(_type_info(of.key_type), Types.TUPLE([_type_info(of.value_type)]))
            self._state = ProcessState(name, "map", ttl_ms=millis, type_info=info)
        elif isinstance(of, RowType):
            info = Types.ROW_NAMED(of.names, [_type_info(field.data_type) for field in of])
            self._state = ProcessState(name, "value", tuple(of.names), ttl_ms=millis, type_info=info)
        elif inspect.isclass(of) and not issubclass(of, DataType):
            record = Types.POJO(of) if is_record_class(of) else None
            self._state = ProcessState(name, "value", make=of, ttl_ms=millis, type_info=record)
        else:
            raise ProgramError(f"the state {name!r} is {of!r}", hint="give a row type, a class, ListView or MapView")


def _type_info(of: DataType) -> TypeInformation:
    """Return the type by which values are compared at a restore; of those that streams do not have nothing is known."""
    try:
        return to_type_info(of)
    except ProgramError:
        return Types.PICKLED_BYTE_ARRAY()


class UserDefinedProcessTableFunctionWrapper:
    """A declared process table function, as :func:`udptf` returns it."""

    def __init__(self, function: UserProcessFunction) -> None:
        self.function = function


def udptf(
    f: Any = None,
    result_type: Any = None,
    arguments: Sequence[ArgumentHint] = (),
    states: Sequence[StateHint] = (),
    name: str | None = None,
) -> Any:
    """Return a :class:`ProcessTableFunction` with its types; without ``f`` a decorator of its class.

    Args:
        f: The function, or its class.
        result_type: The type of its rows: a row type names the columns, any other is the one column.
        arguments: Its arguments, in their order.
        states: Its state entries, in their order.
        name: What it is called in messages and, without ``uid``, by what its state is found again.

    Raises:
        ProgramError: If the methods do not take the state entries and arguments.
    """
    if f is None:
        return lambda given: udptf(given, result_type, arguments, states, name)
    function = f() if inspect.isclass(f) else f
    shown = name or type(function).__name__
    if not isinstance(function, ProcessTableFunction):
        raise ProgramError(f"{f!r} is no process table function", hint="give an instance of a ProcessTableFunction")
    of = parse_data_type(result_type) if isinstance(result_type, str) else result_type
    if not isinstance(of, DataType):
        raise ProgramError(f"the result type of {shown!r} is {result_type!r}", hint="give a data type, such as DataTypes.ROW([...])")
    declared = tuple(each._argument for each in arguments)
    kept = tuple(each._state for each in states)
    if kept and not any(argument.is_set for argument in declared):
        raise ProgramError(
            f"the function {shown!r} has state, but no table with keys", hint="give an argument ArgumentTrait.SET_SEMANTIC_TABLE"
        )
    on_timer = getattr(function, "on_timer", None)
    if on_timer is not None and any(ArgumentTrait.PASS_COLUMNS_THROUGH in argument.traits for argument in declared):
        raise ProgramError(
            f"the function {shown!r} has timers, and passes columns through", hint="leave one of them out: timers have no row"
        )
    if sum(argument.is_table for argument in declared) > 1 and not all(argument.is_set for argument in declared if argument.is_table):
        raise ProgramError(f"the function {shown!r} takes several tables", hint="give each of them ArgumentTrait.SET_SEMANTIC_TABLE")
    made = UserProcessFunction(
        shown,
        function,
        of if isinstance(of, RowType) else RowType([RowField("EXPR$0", of)]),
        declared,
        kept,
        _takes_context(shown, "eval", function.eval, [*(each.name for each in kept), *(each.name for each in declared)]),
        None if on_timer is None else _takes_context(shown, "on_timer", on_timer, [each.name for each in kept]),
        FunctionLife(function.open, function.close),  # type: ignore[arg-type]
    )
    return UserDefinedProcessTableFunctionWrapper(made)


def _takes_context(function: str, name: str, method: Any, given: list[str]) -> bool:
    """Return whether a method takes the context in front of what it is given.

    Raises:
        ProgramError: If it takes more or fewer arguments.
    """
    count = len(inspect.signature(method).parameters) - len(given)
    if count not in (0, 1):
        wanted = ", ".join(["self", "[ctx]", *given])
        raise ProgramError(f"the method {name}() of {function!r} does not take its arguments", hint=f"declare {name}({wanted})")
    return count == 1
