"""Internal. The functions of Hive that return tables, which stand in ``LATERAL TABLE(...)``: each makes an array of rows."""

from __future__ import annotations

from collections.abc import Sequence

from wiesel.columnar.expressions import Expression, Literal
from wiesel.columnar.functions.registry import call, cast
from wiesel.columnar.functions.user_functions import ModuleFunction
from wiesel.columnar.type_rules import least_restrictive
from wiesel.core.errors import ProgramError
from wiesel.types import logical as t

__all__ = ["hive_table_functions", "named_row"]


def named_row(names: Sequence[str], operands: Sequence[Expression]) -> Expression:
    """Return a row of some values whose fields have names."""
    row = call("ROW", operands)
    fields = zip(names, row.data_type.field_types(), strict=True)  # type: ignore[attr-defined]
    return cast(row, t.RowType([t.RowField(name, of) for name, of in fields], nullable=False))


def hive_table_functions() -> dict[str, ModuleFunction]:
    """Return the functions of Hive that return tables, by their names."""
    named = {name: _called(name) for name in ("POSEXPLODE", "JSON_TUPLE", "PARSE_URL_TUPLE")}
    own = {"EXPLODE": _explode, "INLINE": _inline, "STACK": _stack}
    return {**named, **{name: ModuleFunction(made, of_tables=True) for name, made in own.items()}}


def _called(name: str) -> ModuleFunction:
    return ModuleFunction(lambda operands: call(f"hive.{name}", operands), of_tables=True)


def _explode(operands: Sequence[Expression]) -> Expression:
    of_map = len(operands) == 1 and isinstance(operands[0].data_type, t.MapType)
    return call("MAP_ENTRIES" if of_map else "hive.EXPLODE", operands)


def _inline(operands: Sequence[Expression]) -> Expression:
    """Return an array of rows as it is: taken apart they are what the function returns."""
    of = operands[0].data_type if len(operands) == 1 else None
    if not isinstance(of, t.ArrayType) or not isinstance(of.element_type, t.RowType):
        raise ProgramError("inline() takes one array of rows", hint="write inline(ARRAY[ROW(1, 'a'), ROW(2, 'b')])")
    return operands[0]


def _stack(operands: Sequence[Expression]) -> Expression:
    """Return values by rows, as many as the first operand says; NULL where they do not suffice."""
    count = operands[0].value if operands and isinstance(operands[0], Literal) else None
    values = operands[1:]
    if not isinstance(count, int) or not 1 <= count <= len(values):
        message = "stack() takes the number of rows, which is a literal, and at least so many values"
        raise ProgramError(message, hint="write stack(2, 1, 'a', 2, 'b')")
    width = -(-len(values) // count)
    columns = [_of_one_type(place, list(values[place::width]), count) for place in range(width)]
    rows = zip(*columns, strict=True)
    return call("ARRAY", [named_row([f"col{place}" for place in range(width)], row) for row in rows])


def _of_one_type(place: int, values: list[Expression], count: int) -> list[Expression]:
    common = least_restrictive([value.data_type for value in values])
    if common is None:
        shown = ", ".join(value.data_type.as_summary_string() for value in values)
        raise ProgramError(f"column {place} of stack() has values of several types: {shown}", hint="cast them to one type")
    missing = [Literal(common.nullable(), None)] * (count - len(values))
    wanted = common.nullable() if missing else common
    return [*(cast(value, wanted) for value in values), *missing]
