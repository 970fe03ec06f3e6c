"""Programs over bounded data, with Flink's DataSet API: grouping, joining, sorting within a memory budget, optimised by cost.

>>> from wiesel.dataset import ExecutionEnvironment
>>> env = ExecutionEnvironment.get_execution_environment()
>>> words = env.from_elements("to be or not to be").flat_map(str.split).map(lambda word: (word, 1))
>>> counts = words.group_by(0).sum(1).collect()  # doctest: +SKIP
"""

from wiesel.dataset.data_set import AggregatedDataSet, DataSet
from wiesel.dataset.data_sink import DataSink
from wiesel.dataset.environment import ExecutionEnvironment
from wiesel.dataset.functions import (
    Aggregations,
    Aggregator,
    CoGroupFunction,
    ConvergenceCriterion,
    CrossFunction,
    DoubleSumAggregator,
    FilterFunction,
    FlatJoinFunction,
    FlatMapFunction,
    GroupCombineFunction,
    GroupReduceFunction,
    JoinFunction,
    JoinHint,
    KeySelector,
    LongSumAggregator,
    MapFunction,
    MapPartitionFunction,
    Order,
    ReduceFunction,
)
from wiesel.dataset.groupings import SortedGrouping, UnsortedGrouping
from wiesel.dataset.iterations import DeltaIteration, IterativeDataSet

__all__ = [
    "AggregatedDataSet",
    "Aggregations",
    "Aggregator",
    "CoGroupFunction",
    "ConvergenceCriterion",
    "CrossFunction",
    "DataSet",
    "DataSink",
    "DeltaIteration",
    "DoubleSumAggregator",
    "ExecutionEnvironment",
    "FilterFunction",
    "FlatJoinFunction",
    "FlatMapFunction",
    "GroupCombineFunction",
    "GroupReduceFunction",
    "IterativeDataSet",
    "JoinFunction",
    "JoinHint",
    "KeySelector",
    "LongSumAggregator",
    "MapFunction",
    "MapPartitionFunction",
    "Order",
    "ReduceFunction",
    "SortedGrouping",
    "UnsortedGrouping",
]
