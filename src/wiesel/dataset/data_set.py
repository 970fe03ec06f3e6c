"""Data sets: bounded data and their operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic

from wiesel.core.argument_checks import require_built, require_count, require_function, require_instance
from wiesel.core.user_location import program_error
from wiesel.dataset._builtin import CsvLine, FieldsReduce, KeepFirst, SelectedBy
from wiesel.dataset._keys import KeySpec, key_spec, whole_record
from wiesel.dataset._loops import Registered
from wiesel.dataset._plan import Node
from wiesel.dataset.functions import (
    Aggregations,
    FilterFunction,
    FlatMapFunction,
    GroupReduceFunction,
    JoinHint,
    MapFunction,
    MapPartitionFunction,
    Order,
    ReduceFunction,
)
from wiesel.spi.functions import Partitioner
from wiesel.spi.serialization import Encoder
from wiesel.spi.sink import Sink
from wiesel.types import Types
from wiesel.types.java_strings import print_formatter
from wiesel.types.record_type import T
from wiesel.types.typeinfo import TypeInformation
from wiesel.types.types import require_type

if TYPE_CHECKING:
    from wiesel.dataset.data_sink import DataSink
    from wiesel.dataset.environment import ExecutionEnvironment
    from wiesel.dataset.groupings import UnsortedGrouping
    from wiesel.dataset.iterations import DeltaIteration, IterativeDataSet
    from wiesel.dataset.joins import CoGroupSets, CrossDataSet, JoinSets

__all__ = ["AggregatedDataSet", "DataSet"]


class DataSet(Generic[T]):
    """Bounded data of one type.

    Transformations return a new data set; nothing runs before ``collect``, ``count``, ``print`` or, for sinks, ``env.execute()``. The
    optimizer selects algorithms by size; :meth:`explain` shows the plan.
    """

    def __init__(self, environment: ExecutionEnvironment, node: Node) -> None:
        self._environment = environment
        self._node = node

    def get_execution_environment(self) -> ExecutionEnvironment:
        """Return the environment of this data set."""
        return self._environment

    def get_type(self) -> TypeInformation:
        """Return the declared type of the records; pickled objects if none was declared."""
        return self._node.output_type

    # Settings of the last operation

    def name(self, name: str) -> DataSet[T]:
        """Set the name that shows in plans and metrics."""
        require_instance(name, str, "the name", "give a text")
        self._node.name = name
        return self

    def set_parallelism(self, parallelism: int) -> DataSet[T]:
        """Set the number of subtasks."""
        self._node.parallelism = require_count(parallelism, "parallelism")
        return self

    def with_broadcast_set(self, data: DataSet[Any], name: str) -> DataSet[T]:
        """Pass all records of another data set to the function of this operation.

        The function reads them in ``open``, by ``runtime_context.get_broadcast_variable(name)``: a list, in the memory of every subtask.
        """
        self._check_partner(data, "with_broadcast_set()")
        require_instance(name, str, "the name of a broadcast set", "give a text")
        if self._node.function is None:
            raise program_error(
                f"{self._node.name!r} has no function that could use a broadcast set", "call it behind map(), reduce_group(), ..."
            )
        self._node.broadcast[name] = data._node
        return self

    def with_forwarded_fields(self, *fields: int | str) -> DataSet[T]:
        """Declare that the function copies these fields unchanged, so that a partitioning by them is preserved."""
        self._node.forwarded = fields
        return self

    def with_hints(self, records: float | None = None, record_bytes: float | None = None) -> DataSet[T]:
        """Set the number of records and their mean size, if the estimates are wrong or missing."""
        self._node.hints.records = records
        self._node.hints.record_bytes = record_bytes
        return self

    # Records.

    def map(self, func: Callable[[Any], Any] | MapFunction, output_type: TypeInformation | None = None) -> DataSet[Any]:
        """Return the data with each record replaced by the result of ``func``."""
        require_function(func, MapFunction, "map()")
        return self._then("map", "Map", require_type(output_type, "map()"), function=func)

    def flat_map(self, func: Callable[[Any], Any] | FlatMapFunction, output_type: TypeInformation | None = None) -> DataSet[Any]:
        """Return the data with each record replaced by all that ``func`` returns or yields for it."""
        require_function(func, FlatMapFunction, "flat_map()")
        return self._then("flat_map", "FlatMap", require_type(output_type, "flat_map()"), function=func)

    def filter(self, func: Callable[[T], Any] | FilterFunction) -> DataSet[T]:
        """Return the records for which ``func`` returns a true value."""
        require_function(func, FilterFunction, "filter()")
        return self._then("filter", "Filter", self.get_type(), function=func)

    def map_partition(self, func: Callable[[Any], Any] | MapPartitionFunction, output_type: TypeInformation | None = None) -> DataSet[Any]:
        """Return the results of ``func`` for all records of a subtask, which it gets as an iterator."""
        require_function(func, MapPartitionFunction, "map_partition()")
        return self._then("map_partition", "MapPartition", require_type(output_type, "map_partition()"), function=func)

    # Groups, and all records as one group.

    def group_by(self, *keys: Any, key_type: TypeInformation | None = None) -> UnsortedGrouping:
        """Return the records grouped by positions or names of fields, or by a key selector.

        Args:
            keys: Fields, or one function.
            key_type: The type of the selector's results; with it keys are encoded compactly.
        """
        from wiesel.dataset.groupings import UnsortedGrouping

        return UnsortedGrouping(self, self._key(keys, "group_by()", key_type))

    def reduce(self, func: Callable[[T, T], T] | ReduceFunction) -> DataSet[T]:
        """Return one record, reduced from all by calling ``func`` with two at a time."""
        require_function(func, ReduceFunction, "reduce()", arguments=2)
        return self._then("reduce", "Reduce", self.get_type(), function=func)

    def reduce_group(self, func: Callable[[Any], Any] | GroupReduceFunction, output_type: TypeInformation | None = None) -> DataSet[Any]:
        """Return the results of ``func`` for all records, which it gets as an iterator in one subtask."""
        require_function(func, GroupReduceFunction, "reduce_group()")
        return self._then("group_reduce", "GroupReduce", require_type(output_type, "reduce_group()"), function=func)

    def aggregate(self, aggregation: Aggregations, field: int | str) -> AggregatedDataSet:
        """Return one record with the aggregated field; more aggregations are added by ``and_aggregate``."""
        return AggregatedDataSet.of(self, None, aggregation, field)

    def sum(self, field: int | str) -> AggregatedDataSet:
        """Return one record with the sum of a field."""
        return self.aggregate(Aggregations.SUM, field)

    def min(self, field: int | str) -> AggregatedDataSet:
        """Return one record with the minimum of a field."""
        return self.aggregate(Aggregations.MIN, field)

    def max(self, field: int | str) -> AggregatedDataSet:
        """Return one record with the maximum of a field."""
        return self.aggregate(Aggregations.MAX, field)

    def min_by(self, *fields: int | str) -> DataSet[T]:
        """Return the record with the smallest fields."""
        return self._selected(fields, None, largest=False)

    def max_by(self, *fields: int | str) -> DataSet[T]:
        """Return the record with the largest fields."""
        return self._selected(fields, None, largest=True)

    def distinct(self, *keys: Any) -> DataSet[T]:
        """Return one record of those with equal keys; without keys, of equal records."""
        key = self._key(keys, "distinct()") if keys else whole_record(self.get_type())
        return self._then("reduce", "Distinct", self.get_type(), function=KeepFirst(), keys=(key,), params={"keeps_key": True})

    def first(self, n: int) -> DataSet[T]:
        """Return ``n`` arbitrary records, or all if there are fewer."""
        return self._then("first", "First", self.get_type(), params={"n": require_count(n, "n")})

    # Two data sets.

    def union(self, *others: DataSet[Any]) -> DataSet[T]:
        """Return the records of this and of others."""
        for other in others:
            self._check_partner(other, "union()")
        same = all(other.get_type() == self.get_type() for other in others)
        node = self._environment._node(
            "union", "Union", (self._node, *(o._node for o in others)), self.get_type() if same else Types.PICKLED_BYTE_ARRAY()
        )
        return DataSet(self._environment, node)

    def join(self, other: DataSet[Any], strategy: JoinHint = JoinHint.OPTIMIZER_CHOOSES) -> JoinSets:
        """Return the join with another data set; set the keys with ``.where(...).equal_to(...)``, then optionally ``.apply(func)``."""
        return self._join(other, "inner", strategy)

    def join_with_tiny(self, other: DataSet[Any]) -> JoinSets:
        """Return the join with another that is so small that every subtask can have all of it."""
        return self._join(other, "inner", JoinHint.BROADCAST_HASH_SECOND)

    def join_with_huge(self, other: DataSet[Any]) -> JoinSets:
        """Return the join with a much larger data set: this one is broadcast to every subtask."""
        return self._join(other, "inner", JoinHint.BROADCAST_HASH_FIRST)

    def left_outer_join(self, other: DataSet[Any], strategy: JoinHint = JoinHint.OPTIMIZER_CHOOSES) -> JoinSets:
        """Return the left outer join: each record of this at least once, with None for unmatched ones."""
        return self._join(other, "left", strategy)

    def right_outer_join(self, other: DataSet[Any], strategy: JoinHint = JoinHint.OPTIMIZER_CHOOSES) -> JoinSets:
        """Return the right outer join: each record of the other at least once, with None for unmatched ones."""
        return self._join(other, "right", strategy)

    def full_outer_join(self, other: DataSet[Any], strategy: JoinHint = JoinHint.OPTIMIZER_CHOOSES) -> JoinSets:
        """Return the full outer join: each record of both at least once, with None for unmatched ones."""
        return self._join(other, "full", strategy)

    def _join(self, other: DataSet[Any], kind: str, hint: JoinHint) -> JoinSets:
        from wiesel.dataset.joins import JoinSets

        self._check_partner(other, "join()")
        require_instance(hint, JoinHint, "the strategy of a join", "e.g. JoinHint.REPARTITION_SORT_MERGE")
        return JoinSets(self, other, kind, hint)

    def co_group(self, other: DataSet[Any]) -> CoGroupSets:
        """Return the co-group with another data set, with one call per key: ``.where(...).equal_to(...).apply(func)``."""
        from wiesel.dataset.joins import CoGroupSets

        self._check_partner(other, "co_group()")
        return CoGroupSets(self, other)

    def cross(self, other: DataSet[Any]) -> CrossDataSet:
        """Return all pairs of a record of this and one of another; ``.apply(func)`` transforms them."""
        return self._cross(other, None)

    def cross_with_tiny(self, other: DataSet[Any]) -> CrossDataSet:
        """Return all pairs with another that is the smaller one."""
        return self._cross(other, 1)

    def cross_with_huge(self, other: DataSet[Any]) -> CrossDataSet:
        """Return all pairs with another that is the larger one."""
        return self._cross(other, 0)

    def _cross(self, other: DataSet[Any], smaller: int | None) -> CrossDataSet:
        from wiesel.dataset.joins import CrossDataSet

        self._check_partner(other, "cross()")
        node = self._environment._node(
            "cross", "Cross", (self._node, other._node), Types.PICKLED_BYTE_ARRAY(), params={"broadcast_input": smaller}
        )
        return CrossDataSet(self._environment, node)

    # Iterations.

    def iterate(self, max_iterations: int) -> IterativeDataSet:
        """Return the input of a round of an iteration: these records in the first one, else the result of the previous round.

        The operations on it are the step; ``close_with(result)`` ends it.
        """
        from wiesel.dataset.iterations import IterativeDataSet

        return IterativeDataSet(self._environment, self._head("Bulk Iteration", max_iterations, "iterate()"))

    def iterate_delta(self, workset: DataSet[Any], max_iterations: int, *keys: Any) -> DeltaIteration:
        """Return a delta iteration, whose initial solution set has these records.

        Args:
            workset: The input of the first round.
            max_iterations: Maximal number of rounds.
            keys: The key of the solution set: fields, or a function.
        """
        from wiesel.dataset.iterations import DeltaIteration

        self._check_partner(workset, "iterate_delta()")
        key = self._key(keys, "iterate_delta()")
        head = workset._head("Delta Iteration", max_iterations, "iterate_delta()")
        solution = self._environment._node("solution_set", "Solution Set", (self._node, head), self.get_type(), keys=(key,))
        return DeltaIteration(DataSet(self._environment, head), DataSet(self._environment, solution), self, key)

    def _head(self, name: str, max_iterations: int, method: str) -> Node:
        params = {"max_rounds": require_count(max_iterations, f"max_iterations of {method}"), "registered": Registered()}
        return self._environment._node("iteration_head", name, (self._node,), self.get_type(), params=params)

    # Order and partitioning.

    def sort_partition(self, key: Any, order: Order = Order.ASCENDING, key_type: TypeInformation | None = None) -> DataSet[T]:
        """Return the records of each subtask sorted by a field or a key selector; call it again for further keys.

        With parallelism 1 all records are sorted.
        """
        sort = (self._key((key,), "sort_partition()", key_type), _ascending(order))
        node = self._node
        if node.kind == "sort_partition":
            # A further key of the same sort, as in Flink; the previous operation stays unchanged for its other consumers.
            result = self._environment._node("sort_partition", "SortPartition", node.inputs, self.get_type(), sort=(*node.sort, sort))
            result.parallelism = node.parallelism
            return DataSet(self._environment, result)
        return self._then("sort_partition", "SortPartition", self.get_type(), sort=(sort,))

    def partition_by_hash(self, *keys: Any) -> DataSet[T]:
        """Send records with equal keys to one subtask."""
        return self._then("partition", "PartitionByHash", self.get_type(), keys=(self._key(keys, "partition_by_hash()"),))

    def partition_by_range(self, *keys: Any, key_type: TypeInformation | None = None) -> DataSet[T]:
        """Partition records by ranges of their keys, in the order of the subtasks.

        The bounds are determined from a sample, so that subtasks have about equally many records; records with equal keys are in one.

        Args:
            keys: Fields, or one function.
            key_type: The type of the function's results.
        """
        key = self._key(keys, "partition_by_range()", key_type)
        return self._then("partition", "PartitionByRange", self.get_type(), keys=(key,), params={"by_range": True})

    def partition_custom(self, partitioner: Callable[[Any, int], int] | Partitioner, *keys: Any) -> DataSet[T]:
        """Send each record to the subtask that ``partitioner`` returns for its key and the number of subtasks."""
        require_function(partitioner, Partitioner, "partition_custom()", arguments=2)
        key = self._key(keys, "partition_custom()")
        return self._then("partition", "PartitionCustom", self.get_type(), keys=(key,), params={"partitioner": partitioner})

    def rebalance(self) -> DataSet[T]:
        """Distribute records round-robin to all subtasks."""
        return self._then("partition", "Rebalance", self.get_type())

    # Results.

    def collect(self) -> list[T]:
        """Run the program up to here and return all records, in undefined order."""
        return self._environment._collect(self._node)

    def count(self) -> int:
        """Run the program up to here and return the number of records."""
        return sum(self._environment._collect(self._then("count", "Count", Types.LONG())._node))

    def print(self) -> None:
        """Run the program up to here and write the records to the standard output, one per line."""
        text = print_formatter(self.get_type())
        for value in self.collect():
            print(text(value))

    def output(self, sink: Sink) -> DataSink:
        """Write the records to a sink when ``env.execute()`` is called."""
        from wiesel.dataset.data_sink import DataSink

        require_built(sink, Sink, "output()")
        node = self._environment._node("sink", "DataSink", (self._node,), self.get_type(), params={"sink": sink})
        self._environment._sinks.append(node)
        return DataSink(node)

    def write_text(self, path: str) -> DataSink:
        """Write the records as text to files in a directory, one per line, when ``env.execute()`` is called."""
        from wiesel.connectors.filesystem.sink import FileSink

        return self.output(FileSink.for_row_format(path, Encoder.simple_string_encoder()).build())

    def write_csv(self, path: str, field_delimiter: str = ",") -> DataSink:
        """Write tuples or rows as CSV to files in a directory when ``env.execute()`` is called."""
        return self.map(CsvLine(field_delimiter), Types.STRING()).write_text(path)

    def explain(self) -> str:
        """Return the plan with estimates and reasons, without execution."""
        return self._environment._explain([self._node])

    # Creation of data sets

    def _key(self, keys: tuple[Any, ...], method: str, key_type: TypeInformation | None = None) -> KeySpec:
        return key_spec(keys, self.get_type(), method, key_type)

    def _then(self, kind: str, name: str, output_type: TypeInformation, **attributes: Any) -> DataSet[Any]:
        return DataSet(self._environment, self._environment._node(kind, name, (self._node,), output_type, **attributes))

    def _selected(self, fields: tuple[int | str, ...], key: KeySpec | None, *, largest: bool) -> DataSet[Any]:
        name = "MaxBy" if largest else "MinBy"
        self._key(fields, f"{name}()")
        keys = () if key is None else (key,)
        return self._then(
            "reduce", name, self.get_type(), function=SelectedBy(fields, largest=largest), keys=keys, params={"keeps_key": True}
        )

    def _check_partner(self, other: Any, method: str) -> None:
        require_instance(other, DataSet, f"the argument of {method}", "give data sets of this environment")
        if other._environment is not self._environment:
            raise program_error(f"{method} got a data set of another environment", "build the whole program with one ExecutionEnvironment")


def _ascending(order: Order) -> bool:
    require_instance(order, Order, "the order", "Order.ASCENDING or Order.DESCENDING")
    return order is Order.ASCENDING


class AggregatedDataSet(DataSet[Any]):
    """Records with aggregated fields, one per group; the other fields are those of an arbitrary record of the group."""

    _source: DataSet[Any]
    _group_key: KeySpec | None
    _aggregations: tuple[tuple[Aggregations, int | str], ...]

    @staticmethod
    def of(
        source: DataSet[Any],
        key: KeySpec | None,
        aggregation: Aggregations,
        field: int | str,
        before: tuple[tuple[Aggregations, int | str], ...] = (),
    ) -> AggregatedDataSet:
        """Return the aggregation of a data set, after those in ``before``."""
        require_instance(aggregation, Aggregations, "the aggregation", "e.g. Aggregations.SUM")
        source._key((field,), "aggregate()")
        aggregations = (*before, (aggregation, field))
        name = "Aggregate " + ", ".join(f"{kind.value}({f})" for kind, f in aggregations)
        # Key fields are unchanged unless one of them is aggregated; a position and a name may refer to one field.
        aggregated = {f for _, f in aggregations}
        keeps = key is not None and not aggregated & set(key.fields) and len(set(map(type, aggregated | set(key.fields)))) == 1
        node = source._environment._node(
            "reduce",
            name,
            (source._node,),
            source.get_type(),
            function=FieldsReduce(aggregations),
            keys=() if key is None else (key,),
            params={"keeps_key": keeps and bool(key and key.fields)},
        )
        result = AggregatedDataSet(source._environment, node)
        result._source, result._group_key, result._aggregations = source, key, aggregations
        return result

    def and_aggregate(self, aggregation: Aggregations, field: int | str) -> AggregatedDataSet:
        """Return the aggregation with a further aggregated field."""
        return AggregatedDataSet.of(self._source, self._group_key, aggregation, field, self._aggregations)
