"""Features of chains and of what state may be, by their ids."""

from __future__ import annotations

import threading
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest

from wiesel.common import Types, WatermarkStrategy
from wiesel.core.errors import JobExecutionError
from wiesel.datastream.functions import KeyedProcessFunction
from wiesel.datastream.state import MapStateDescriptor, ReducingStateDescriptor, ValueStateDescriptor
from wiesel.testing import ManualSource, function_harness, local_environment

NO_WATERMARKS = WatermarkStrategy.no_watermarks()


def locks_and_back(chained: bool) -> list[tuple[int, bool]]:
    """Send what cannot be serialised from one function to another, with the thread that the first has run in."""
    env = local_environment()
    locks = env.from_collection([1, 2, 3], Types.INT()).map(lambda n: (n, threading.Lock(), threading.get_ident()))
    numbers = locks.map(lambda v: (v[0], v[2] == threading.get_ident()))
    if not chained:
        numbers.start_new_chain()
    with numbers.execute_and_collect() as found:
        return list(found)


def test_g12_chained_functions_hand_records_on_in_one_thread_unserialised() -> None:
    assert locks_and_back(chained=True) == [(1, True), (2, True), (3, True)]


def test_g12_functions_in_chains_of_their_own_serialise() -> None:
    with pytest.raises(JobExecutionError, match="pickle"):
        locks_and_back(chained=False)


class Tree:
    """A decision tree that splits at the mean when a leaf is full."""

    def __init__(self) -> None:
        self.values: list[float] = []
        self.at: float | None = None
        self.children: list[Tree] = []

    def add(self, value: float) -> None:
        if self.at is not None:
            self.children[value >= self.at].add(value)
            return
        self.values.append(value)
        if len(self.values) == 4 and len(set(self.values)) > 1:
            self.at = sum(self.values) / 4
            self.children = [Tree(), Tree()]
            for each in self.values:
                self.children[each >= self.at].add(each)
            self.values = []

    def leaves(self) -> list[list[float]]:
        return [leaf for child in self.children for leaf in child.leaves()] if self.at is not None else [sorted(self.values)]


class Learn(KeyedProcessFunction):
    """Keeps a counter, a sum, a classification tree, a sparse matrix and a window of the last three records, each as state."""

    def open(self, runtime_context: Any) -> None:
        context = runtime_context
        self.counter = context.get_state(ValueStateDescriptor("counter", Types.LONG()))
        self.sum = context.get_reducing_state(ReducingStateDescriptor("sum", lambda a, b: a + b, Types.DOUBLE()))
        self.tree = context.get_state(ValueStateDescriptor("tree"))
        self.matrix = context.get_map_state(MapStateDescriptor("matrix", Types.TUPLE([Types.LONG(), Types.LONG()]), Types.LONG()))
        self.window = context.get_state(ValueStateDescriptor("window", Types.LIST(Types.DOUBLE())))

    def process_element(self, value: float, ctx: Any) -> Any:
        last = self.window.value() or []
        self.counter.update((self.counter.value() or 0) + 1)
        self.sum.add(value)
        tree = self.tree.value() or Tree()
        tree.add(value)
        self.tree.update(tree)
        if last:
            cell = int(last[-1]), int(value)
            self.matrix.put(cell, (self.matrix.get(cell) or 0) + 1)
        self.window.update([*last, value][-3:])
        yield self.counter.value(), self.sum.get(), tree.leaves(), sorted(self.matrix.items()), self.window.value()


VALUES = [1.0, 9.0, 2.0, 8.0, 2.0, 9.0, 1.0, 9.0, 3.0]


@pytest.mark.parametrize("backend", ["hashmap", "lmdb", "rocksdb"])
def test_s13_counter_sum_tree_matrix_and_window_are_state_and_survive_a_restore(backend: str) -> None:
    with function_harness(Learn(), key_selector=lambda v: "key", state_backend=backend) as harness:
        harness.push_all(VALUES[:5])
        with harness.restored(harness.snapshot(), parallelism=2) as again:
            again.push_all(VALUES[5:])
            count, total, leaves, matrix, window = again.values[-1]
    whole = Tree()
    for value in VALUES:
        whole.add(value)
    assert (count, total, leaves) == (len(VALUES), sum(VALUES), whole.leaves())
    assert dict(matrix) == Counter((int(a), int(b)) for a, b in pairwise(VALUES))
    assert window == VALUES[-3:]


def test_s6_keys_do_not_see_each_others_state() -> None:
    env = local_environment(parallelism=2)
    source = ManualSource()
    keyed = env.from_source(source, NO_WATERMARKS, "words").key_by(lambda v: v[0])
    out = env.collect(keyed.reduce(lambda a, b: (a[0], a[1] + b[1])))
    with env.start() as job:
        source.push_all([("a", 1), ("b", 10), ("a", 2), ("b", 20)])
        job.finish()
    assert sorted(out.values) == [("a", 1), ("a", 3), ("b", 10), ("b", 30)]
