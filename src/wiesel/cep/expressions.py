"""Internal. Conditions as strings: expressions over the fields of an event, without side effects and calls of other functions.

They are parsed by Python's parser and evaluated by an interpreter that knows literals, fields, comparisons, ``and or not``, ``in``, ``is
None``, arithmetic of numbers, ``a if c else b`` and the functions below. ``name.field`` is the list of a field's values over the events
taken by the partial match for the pattern ``name``.
over the events that the partial match has taken for the pattern ``name``.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any

__all__ = ["Expression", "ExpressionError"]

LENGTH_MAX = 4000

_Node = Callable[[Any, Any], Any]


class ExpressionError(ValueError):
    """The string is not a valid expression."""


def _numbers(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def compute(left: Any, right: Any) -> Any:
        if left is None or right is None:
            return None
        for value in (left, right):
            if not isinstance(value, int | float | Decimal):
                raise TypeError(f"arithmetic is for numbers, got {value!r}")
        return function(left, right)

    return compute


def _ordered(function: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda left, right: left is not None and right is not None and function(left, right)


_ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: _numbers(operator.add),
    ast.Sub: _numbers(operator.sub),
    ast.Mult: _numbers(operator.mul),
    ast.Div: _numbers(operator.truediv),
    ast.FloorDiv: _numbers(operator.floordiv),
    ast.Mod: _numbers(operator.mod),
}
_COMPARISONS: dict[type, Callable[[Any, Any], bool]] = {
    ast.Lt: _ordered(operator.lt),
    ast.LtE: _ordered(operator.le),
    ast.Gt: _ordered(operator.gt),
    ast.GtE: _ordered(operator.ge),
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.In: lambda item, container: container is not None and item in container,
    ast.NotIn: lambda item, container: container is None or item not in container,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}


def _present(values: Iterable[Any]) -> list[Any]:
    return [v for v in values if v is not None]


def _average(values: Iterable[Any]) -> Any:
    present = _present(values)
    return sum(present) / len(present) if present else None


_OVER_LISTS: dict[str, Callable[[list[Any]], Any]] = {
    "count": len,
    "sum": lambda values: sum(_present(values)),
    "avg": _average,
    "min": lambda values: min(_present(values), default=None),
    "max": lambda values: max(_present(values), default=None),
    "first": lambda values: values[0] if values else None,
    "last": lambda values: values[-1] if values else None,
}
_OVER_VALUES: dict[str, tuple[int, Callable[..., Any]]] = {
    "abs": (1, lambda value: None if value is None else abs(value)),
    "length": (1, lambda value: None if value is None else len(value)),
    "lower": (1, lambda value: None if value is None else str(value).lower()),
    "upper": (1, lambda value: None if value is None else str(value).upper()),
    "starts_with": (2, lambda value, part: value is not None and str(value).startswith(part)),
    "ends_with": (2, lambda value, part: value is not None and str(value).endswith(part)),
    "contains": (2, lambda value, part: value is not None and part in value),
}
_FUNCTIONS = ", ".join(sorted([*_OVER_LISTS, *_OVER_VALUES]))


def field_of(event: Any, name: str) -> Any:
    """Return a field of an event: the entry of a mapping, else the attribute (of rows, named tuples and objects).

    Raises:
        LookupError: If there is none.
    """
    if isinstance(event, Mapping):
        if name in event:
            return event[name]
    elif not name.startswith("_") and hasattr(event, name):
        value = getattr(event, name)
        if not callable(value):
            return value
    raise LookupError(f"the event has no field {name!r}: {event!r:.200}")


class Expression:
    """A condition given as a string; picklable.

    Args:
        text: The expression.
        patterns: Names of the patterns whose events it may use.

    Attributes:
        iterative: True if it uses them.

    Raises:
        ExpressionError: If the string is no expression, with the position in it.
    """

    def __init__(self, text: str, patterns: Iterable[str] = ()) -> None:
        self.text = text
        self.patterns = frozenset(patterns)
        compiler = _Compiler(self.patterns)
        self._evaluate = compiler.compile(text)
        self.iterative = compiler.iterative

    def __call__(self, event: Any, ctx: Any = None) -> bool:
        """Return whether the event satisfies the condition.

        Raises:
            ExpressionError: If it cannot be evaluated for this event; the message has the expression, as there is no program line.
        """
        try:
            return bool(self._evaluate(event, ctx))
        except Exception as error:
            raise ExpressionError(f"{type(error).__name__} in the expression {self.text!r}: {error}") from error

    def __reduce__(self) -> tuple[Any, ...]:
        return Expression, (self.text, self.patterns)

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"


class _Compiler:
    def __init__(self, patterns: frozenset[str]) -> None:
        self._patterns = patterns
        self.iterative = False

    def compile(self, text: str) -> _Node:
        if len(text) > LENGTH_MAX:
            raise ExpressionError(f"the expression has {len(text)} characters, more than {LENGTH_MAX}")
        try:
            tree = ast.parse(text.strip(), mode="eval")
            return self._node(tree.body)
        except SyntaxError as error:
            # At the end of the string Python counts from its last line, which is empty.
            place = f"at character {error.offset}" if error.offset else "at the end"
            raise ExpressionError(f"{error.msg} {place} of {text!r}") from None
        except (RecursionError, MemoryError, ValueError) as error:
            if isinstance(error, ExpressionError):
                raise
            raise ExpressionError(f"the expression cannot be read: {error}") from None

    def _node(self, node: ast.expr) -> _Node:
        make = getattr(self, f"_{type(node).__name__.lower()}", None)
        if make is None:
            raise self._refused(node, f"{ast.unparse(node)!r} is not allowed here")
        made: _Node = make(node)
        return made

    def _refused(self, node: ast.expr, message: str) -> ExpressionError:
        return ExpressionError(f"{message} (at character {node.col_offset + 1})")

    def _constant(self, node: ast.Constant) -> _Node:
        value = node.value
        if not isinstance(value, int | float | str | None):
            raise self._refused(node, f"{ast.unparse(node)} is no number, text, True, False or None")
        return lambda event, ctx: value

    def _name(self, node: ast.Name) -> _Node:
        name = node.id
        if name == "event":
            return lambda event, ctx: event
        if name in self._patterns:
            raise self._refused(node, f"{name!r} is a pattern: write {name}.field within a function such as sum(), or count({name})")
        return lambda event, ctx: field_of(event, name)

    def _attribute(self, node: ast.Attribute) -> _Node:
        if isinstance(node.value, ast.Name) and node.value.id in self._patterns:
            raise self._refused(
                node, f"{ast.unparse(node)} is a list of values: use first(), last(), sum(), avg(), min(), max() or count()"
            )
        inner, name = self._node(node.value), node.attr
        return lambda event, ctx: field_of(inner(event, ctx), name)

    def _boolop(self, node: ast.BoolOp) -> _Node:
        parts = [self._node(value) for value in node.values]
        if isinstance(node.op, ast.And):
            return lambda event, ctx: all(part(event, ctx) for part in parts)
        return lambda event, ctx: any(part(event, ctx) for part in parts)

    def _unaryop(self, node: ast.UnaryOp) -> _Node:
        inner = self._node(node.operand)
        if isinstance(node.op, ast.Not):
            return lambda event, ctx: not inner(event, ctx)
        if isinstance(node.op, ast.USub):
            return lambda event, ctx: _ARITHMETIC[ast.Sub](0, inner(event, ctx))
        raise self._refused(node, f"{ast.unparse(node)!r} is not allowed here")

    def _binop(self, node: ast.BinOp) -> _Node:
        compute = _ARITHMETIC.get(type(node.op))
        if compute is None:
            raise self._refused(node, f"{ast.unparse(node)!r}: of arithmetic there are + - * / // and %")
        left, right = self._node(node.left), self._node(node.right)
        return lambda event, ctx: compute(left(event, ctx), right(event, ctx))

    def _compare(self, node: ast.Compare) -> _Node:
        operands = [self._node(n) for n in (node.left, *node.comparators)]
        tests = [_COMPARISONS[type(op)] for op in node.ops]
        for op, operand in zip(node.ops, node.comparators, strict=True):
            if isinstance(op, ast.Is | ast.IsNot) and not (isinstance(operand, ast.Constant) and operand.value in (None, True, False)):
                raise self._refused(node, "'is' compares with None, True or False only")

        def compare(event: Any, ctx: Any) -> bool:
            left = operands[0](event, ctx)
            for test, operand in zip(tests, operands[1:], strict=True):
                right = operand(event, ctx)
                if not test(left, right):
                    return False
                left = right
            return True

        return compare

    def _ifexp(self, node: ast.IfExp) -> _Node:
        test, yes, no = self._node(node.test), self._node(node.body), self._node(node.orelse)
        return lambda event, ctx: yes(event, ctx) if test(event, ctx) else no(event, ctx)

    def _list(self, node: ast.List | ast.Tuple | ast.Set) -> _Node:
        parts = [self._node(value) for value in node.elts]
        return lambda event, ctx: [part(event, ctx) for part in parts]

    _tuple = _set = _list

    def _call(self, node: ast.Call) -> _Node:
        name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
        if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            raise self._refused(node, f"{name}() takes no named arguments")
        if name in _OVER_LISTS:
            return self._over_list(node, name)
        if name not in _OVER_VALUES:
            raise self._refused(node, f"there is no function {name}(); there are {_FUNCTIONS}")
        count, function = _OVER_VALUES[name]
        if len(node.args) != count:
            raise self._refused(node, f"{name}() takes {count} argument{'s' if count > 1 else ''}")
        arguments = [self._node(a) for a in node.args]
        return lambda event, ctx: function(*(a(event, ctx) for a in arguments))

    def _over_list(self, node: ast.Call, name: str) -> _Node:
        function = _OVER_LISTS[name]
        if len(node.args) != 1:
            raise self._refused(node, f"{name}() takes 1 argument")
        argument = node.args[0]
        if name == "count" and isinstance(argument, ast.Name) and argument.id in self._patterns:
            pattern = argument.id
            self.iterative = True
            return lambda event, ctx: len(ctx.get_events_for_pattern(pattern))
        if isinstance(argument, ast.Attribute) and isinstance(argument.value, ast.Name) and argument.value.id in self._patterns:
            pattern, field = argument.value.id, argument.attr
            self.iterative = True
            return lambda event, ctx: function([field_of(e, field) for e in ctx.get_events_for_pattern(pattern)])
        known = ", ".join(sorted(self._patterns)) or "none here"
        raise self._refused(node, f"{name}() is about the events of a pattern: {name}(pattern.field); the patterns are {known}")
