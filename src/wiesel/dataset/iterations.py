"""Iterations over data sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wiesel.core.argument_checks import require_count, require_instance
from wiesel.core.user_location import program_error
from wiesel.dataset._keys import KeySpec
from wiesel.dataset._loops import Registered
from wiesel.dataset._plan import Node
from wiesel.dataset.data_set import DataSet
from wiesel.dataset.functions import Aggregator, ConvergenceCriterion

__all__ = ["DeltaIteration", "IterativeDataSet"]


def _register(registered: Registered, name: str, aggregator: Aggregator) -> None:
    require_instance(name, str, "the name of an aggregator", "give a text")
    require_instance(aggregator, Aggregator, "the aggregator", "subclass Aggregator, or use LongSumAggregator()")
    if name in registered.aggregators:
        raise program_error(f"the iteration already has an aggregator {name!r}", "give each its own name")
    registered.aggregators[name] = aggregator


def _register_criterion(
    registered: Registered, name: str, aggregator: Aggregator, criterion: ConvergenceCriterion | Callable[[int, Any], bool]
) -> None:
    _register(registered, name, aggregator)
    given: Any = criterion
    if not isinstance(given, ConvergenceCriterion) and not callable(given):
        hint = "subclass ConvergenceCriterion, or give e.g. lambda round, value: value < 1e-6"
        raise program_error(f"the convergence criterion is no function, but {given!r:.100}", hint)
    registered.criterion = (name, criterion)


def _close(head: Node, what: str) -> None:
    if head.params.get("closed"):
        raise program_error(f"{what} was closed before, at {head.params['closed']}", "call iterate() again for another iteration")


class IterativeDataSet(DataSet[Any]):
    """The input of a round of a bulk iteration; the operations on it, up to ``close_with``, are the step."""

    def register_aggregator(self, name: str, aggregator: Aggregator) -> IterativeDataSet:
        """Add an aggregator, accessible in functions of the step by ``runtime_context.get_iteration_aggregator(name)``."""
        _register(self._node.params["registered"], name, aggregator)
        return self

    def register_aggregation_convergence_criterion(
        self, name: str, aggregator: Aggregator, convergence_check: ConvergenceCriterion | Callable[[int, Any], bool]
    ) -> IterativeDataSet:
        """Add an aggregator whose aggregate ends the iteration, as soon as the criterion is met after a round."""
        _register_criterion(self._node.params["registered"], name, aggregator, convergence_check)
        return self

    def get_max_iterations(self) -> int:
        """Return the maximal number of rounds."""
        return int(self._node.params["max_rounds"])

    def close_with(self, iteration_result: DataSet[Any], termination_criterion: DataSet[Any] | None = None) -> DataSet[Any]:
        """End the step, and return the result of the last round.

        Args:
            iteration_result: The input of the next round.
            termination_criterion: A data set of the step: the iteration ends after a round in which it is empty.
        """
        given = [iteration_result] if termination_criterion is None else [iteration_result, termination_criterion]
        for data in given:
            self._check_partner(data, "close_with()")
        _close(self._node, "the iteration")
        self._node.params["registered"].terminates = termination_criterion is not None
        node = self._environment._node(
            "iteration_result",
            f"{self._node.name}: Result",
            tuple(data._node for data in given),
            iteration_result.get_type(),
            params={"head": self._node},
        )
        self._node.params["closed"] = node.location
        return DataSet(self._environment, node)


class DeltaIteration:
    """A delta iteration: a solution set, and a workset as the input of each round."""

    def __init__(self, workset: DataSet[Any], solution_set: DataSet[Any], initial: DataSet[Any], key: KeySpec) -> None:
        self._workset = workset
        self._solution_set = solution_set
        self._initial = initial
        self._key = key

    def get_workset(self) -> DataSet[Any]:
        """Return the input of a round."""
        return self._workset

    def get_solution_set(self) -> DataSet[Any]:
        """Return the solution set, for joins and co-groups with other data of the step by the key of the iteration."""
        return self._solution_set

    def name(self, name: str) -> DeltaIteration:
        """Set the name that shows in plans and metrics."""
        self._workset.name(name)
        return self

    def parallelism(self, parallelism: int) -> DeltaIteration:
        """Set the parallelism of the head and the tail of the iteration."""
        self._workset.set_parallelism(require_count(parallelism, "parallelism"))
        return self

    def register_aggregator(self, name: str, aggregator: Aggregator) -> DeltaIteration:
        """Add an aggregator, accessible in functions of the step by ``runtime_context.get_iteration_aggregator(name)``."""
        _register(self._workset._node.params["registered"], name, aggregator)
        return self

    def register_aggregation_convergence_criterion(
        self, name: str, aggregator: Aggregator, convergence_check: ConvergenceCriterion | Callable[[int, Any], bool]
    ) -> DeltaIteration:
        """Add an aggregator whose aggregate ends the iteration, as soon as the criterion is met after a round."""
        _register_criterion(self._workset._node.params["registered"], name, aggregator, convergence_check)
        return self

    def close_with(self, solution_set_delta: DataSet[Any], new_workset: DataSet[Any]) -> DataSet[Any]:
        """End the step, and return the solution set when the workset is empty, or after the last round.

        Args:
            solution_set_delta: Records that replace those with equal keys in the solution set, or are added to it, from the next round on.
            new_workset: The input of the next round.
        """
        for data in (solution_set_delta, new_workset):
            self._workset._check_partner(data, "close_with()")
        head = self._workset._node
        _close(head, "the iteration")
        node = self._workset._environment._node(
            "delta_result",
            f"{head.name}: Solution Set",
            (solution_set_delta._node, new_workset._node, self._initial._node),
            self._initial.get_type(),
            keys=(self._key,),
            params={"head": head},
        )
        head.params["closed"] = node.location
        return DataSet(self._workset._environment, node)
