"""Binary operations of data sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wiesel.core.argument_checks import require_function
from wiesel.core.user_location import program_error
from wiesel.dataset._keys import KeySpec
from wiesel.dataset._plan import Node
from wiesel.dataset.data_set import DataSet
from wiesel.dataset.functions import CoGroupFunction, CrossFunction, FlatJoinFunction, JoinFunction, JoinHint
from wiesel.types import Types
from wiesel.types.typeinfo import PickledBytesTypeInfo, TypeInformation
from wiesel.types.types import require_type

__all__ = ["CoGroupSets", "CoGrouped", "CrossDataSet", "JoinDataSet", "JoinSets", "WhereClause"]

_PRESERVED = {
    "left": (JoinHint.BROADCAST_HASH_FIRST,),
    "right": (JoinHint.BROADCAST_HASH_SECOND,),
    "full": (JoinHint.BROADCAST_HASH_FIRST, JoinHint.BROADCAST_HASH_SECOND),
}


class JoinSets:
    """Two data sets to be joined; set the keys next."""

    def __init__(self, first: DataSet[Any], second: DataSet[Any], kind: str, hint: JoinHint) -> None:
        if hint in _PRESERVED.get(kind, ()):
            raise program_error(
                f"a {kind} outer join cannot be done as {hint.name}: no subtask would know that a record has no match anywhere",
                "broadcast the other input, or leave the choice to the optimizer",
            )
        self._first, self._second, self._kind, self._hint = first, second, kind, hint

    def where(self, *keys: Any, key_type: TypeInformation | None = None) -> WhereClause:
        """Name the key of the first input: fields, or a function."""
        return WhereClause(self, self._first._key(keys, "where()", key_type))


class WhereClause:
    """A join with the key of its first input."""

    def __init__(self, sets: JoinSets, key: KeySpec) -> None:
        self._sets = sets
        self._key = key

    def equal_to(self, *keys: Any, key_type: TypeInformation | None = None) -> JoinDataSet:
        """Name the key of the second input; the result has pairs ``(first, second)`` with equal keys."""
        sets = self._sets
        second = sets._second._key(keys, "equal_to()", key_type)
        _check_arity(self._key, second)
        environment = sets._first._environment
        name = "Join" if sets._kind == "inner" else f"{sets._kind.capitalize()}OuterJoin"
        output_type = _pair_type(sets._first, sets._second) if sets._kind == "inner" else Types.PICKLED_BYTE_ARRAY()
        node = environment._node(
            "join",
            name,
            (sets._first._node, sets._second._node),
            output_type,
            keys=(self._key, second),
            params={"join": sets._kind},
            join_hint=sets._hint,
        )
        return JoinDataSet(environment, node)


class _Pairs(DataSet[Any]):
    """Pairs of records, optionally transformed by ``apply``."""

    def _applied(self, function: Any, output_type: TypeInformation, **params: Any) -> DataSet[Any]:
        pairs: Node = self._node
        node = self._environment._node(
            pairs.kind,
            pairs.name,
            pairs.inputs,
            output_type,
            function=function,
            keys=pairs.keys,
            params={**pairs.params, **params},
            join_hint=pairs.join_hint,
        )
        node.parallelism = pairs.parallelism
        return DataSet(self._environment, node)


class JoinDataSet(_Pairs):
    """The pairs of a join: tuples ``(first, second)``, in outer joins with None for unmatched records."""

    def apply(
        self,
        func: Callable[[Any, Any], Any] | JoinFunction[Any, Any, Any] | FlatJoinFunction[Any, Any, Any],
        output_type: TypeInformation | None = None,
    ) -> DataSet[Any]:
        """Return the results of ``func`` for each pair that are not None; of a FlatJoinFunction, all results."""
        flat = isinstance(func, FlatJoinFunction)
        require_function(func, FlatJoinFunction if flat else JoinFunction, "apply()", arguments=2)
        return self._applied(func, require_type(output_type, "apply()"), **({"flat": True} if flat else {}))


class CoGroupSets:
    """Two data sets to be co-grouped; set the keys next."""

    def __init__(self, first: DataSet[Any], second: DataSet[Any]) -> None:
        self._first, self._second = first, second
        self._key: KeySpec | None = None

    def where(self, *keys: Any, key_type: TypeInformation | None = None) -> CoGroupSets:
        """Name the key of the first input: fields, or a function."""
        result = CoGroupSets(self._first, self._second)
        result._key = self._first._key(keys, "where()", key_type)
        return result

    def equal_to(self, *keys: Any, key_type: TypeInformation | None = None) -> CoGrouped:
        """Set the key of the second input; next call ``apply``."""
        if self._key is None:
            raise program_error("equal_to() comes before where()", "write .where(...).equal_to(...)")
        second = self._second._key(keys, "equal_to()", key_type)
        _check_arity(self._key, second)
        return CoGrouped(self._first, self._second, self._key, second)


class CoGrouped:
    """Two data sets grouped by their keys."""

    def __init__(self, first: DataSet[Any], second: DataSet[Any], first_key: KeySpec, second_key: KeySpec) -> None:
        self._sides = (first, second)
        self._keys = (first_key, second_key)

    def apply(self, func: Callable[[Any, Any], Any] | CoGroupFunction, output_type: TypeInformation | None = None) -> DataSet[Any]:
        """Return the results of ``func`` for each key, which gets the records of both inputs as iterators."""
        require_function(func, CoGroupFunction, "apply()", arguments=2)
        environment = self._sides[0]._environment
        nodes = (self._sides[0]._node, self._sides[1]._node)
        node = environment._node("co_group", "CoGroup", nodes, require_type(output_type, "apply()"), function=func, keys=self._keys)
        return DataSet(environment, node)


class CrossDataSet(_Pairs):
    """All pairs: tuples ``(first, second)``."""

    def apply(self, func: Callable[[Any, Any], Any] | CrossFunction, output_type: TypeInformation | None = None) -> DataSet[Any]:
        """Return the result of ``func`` for each pair."""
        require_function(func, CrossFunction, "apply()", arguments=2)
        return self._applied(func, require_type(output_type, "apply()"))


def _check_arity(first: KeySpec, second: KeySpec) -> None:
    if first.fields and second.fields and len(first.fields) != len(second.fields):
        raise program_error(
            f"where() names {len(first.fields)} fields and equal_to() {len(second.fields)}, so no keys could be equal",
            "name as many in both",
        )


def _pair_type(first: DataSet[Any], second: DataSet[Any]) -> TypeInformation:
    types = [first.get_type(), second.get_type()]
    return Types.PICKLED_BYTE_ARRAY() if any(isinstance(t, PickledBytesTypeInfo) for t in types) else Types.TUPLE(types)
