"""The examples of iterations against networkx, NumPy and plain loops."""

from __future__ import annotations

import runpy
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest

from wiesel.core import config
from wiesel.iteration import rounds_of
from wiesel.testing import local_environment

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
GRAPHS = {
    "karate club": networkx.karate_club_graph,
    "les miserables": networkx.les_miserables_graph,
    "southern women": networkx.davis_southern_women_graph,
}


@pytest.fixture(autouse=True)
def local_engine() -> Iterator[None]:
    before = config.process_defaults()
    config.set_process_defaults({"wiesel.engine": "local"})
    yield
    config.set_process_defaults(before)


def load(name: str) -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLES / name), run_name=name)


def run(monkeypatch: pytest.MonkeyPatch, name: str, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")


def edges_of(graph: networkx.Graph) -> list[tuple[Any, Any]]:
    return [pair for a, b in graph.edges for pair in ((a, b), (b, a))]


@pytest.mark.parametrize("parallelism", [1, 2])
@pytest.mark.parametrize("name", GRAPHS)
def test_page_rank_is_the_eigenvector(name: str, parallelism: int) -> None:
    graph = networkx.Graph(GRAPHS[name]().edges)
    env = local_environment(parallelism=parallelism)
    vertices = env.from_collection(sorted(graph.nodes))
    ranks = env.collect(load("karate_club.py")["page_rank"](vertices, env.from_collection(edges_of(graph)), len(graph)))
    rounds = rounds_of(env.execute())
    values, vectors = np.linalg.eig(np.asarray(networkx.google_matrix(graph, alpha=0.85)).T)
    dominant = np.real(vectors[:, np.argmax(np.real(values))])
    expected = dict(zip(graph.nodes, dominant / dominant.sum(), strict=True))
    assert dict(ranks.values) == pytest.approx(expected, abs=1e-8)
    assert len(ranks.values) == len(graph)
    assert rounds[-1].value < 1e-9 <= rounds[-2].value
    assert len(rounds) < 200


@pytest.mark.parametrize("parallelism", [1, 2])
@pytest.mark.parametrize("name", GRAPHS)
def test_components_are_those_of_networkx_with_less_and_less_work(name: str, parallelism: int) -> None:
    graph = GRAPHS[name]()
    # Without those who know most others the graphs fall apart.
    popular = sorted(graph.nodes, key=lambda v: (-graph.degree(v), v))[: len(graph) // 6]
    graph.remove_nodes_from(popular)
    env = local_environment(parallelism=parallelism)
    vertices = env.from_collection(sorted(graph.nodes))
    labels = env.collect(load("karate_club.py")["components"](vertices, env.from_collection(edges_of(graph))))
    work = [r.records for r in rounds_of(env.execute())]
    groups = list(networkx.connected_components(graph))
    assert len(groups) > 2
    assert Counter(labels.values) == Counter((v, min(group)) for group in groups for v in group)
    assert work == changes_by_round(graph)
    assert work == sorted(work, reverse=True)
    assert work[-1] == 0


def changes_by_round(graph: networkx.Graph) -> list[int]:
    """Recompute how many labels change in each round, round by round over the whole graph."""
    labels, changed, counts = {v: v for v in graph}, set(graph), []
    while changed:
        offered: dict[Any, list[Any]] = {}
        for v in changed:
            for near in graph[v]:
                offered.setdefault(near, []).append(labels[v])
        changed = {v for v, candidates in offered.items() if min(candidates) < labels[v]}
        labels.update({v: min(offered[v]) for v in changed})
        counts.append(len(changed))
    return counts


def lloyd(points: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, int]:
    """Recompute k-means; return the centres and the number of rounds, the last of which moves nothing."""
    rounds = 0
    while True:
        rounds += 1
        nearest = ((points[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
        moved = np.array([points[nearest == i].mean(axis=0) if (nearest == i).any() else centres[i] for i in range(len(centres))])
        if ((moved - centres) ** 2).sum() < 1e-12:
            return moved, rounds
        centres = moved


@pytest.mark.parametrize("parallelism", [1, 2])
@pytest.mark.parametrize("seed", [7, 8])
def test_k_means_finds_what_lloyds_algorithm_finds(seed: int, parallelism: int) -> None:
    example = load("k_means.py")
    points = example["example_points"](seed)
    env = local_environment(parallelism=parallelism)
    centres = env.collect(example["k_means"](env.from_collection(points), env.from_collection(points[:3])))
    rounds = rounds_of(env.execute())
    array = np.array([(x, y) for _, x, y in points])
    expected, count = lloyd(array, array[:3])
    assert np.allclose([(x, y) for _, x, y in sorted(centres.values)], expected, rtol=0, atol=1e-9)
    assert [r.records for r in rounds] == [3] * count


def test_the_karate_club_is_the_recorded_one(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    run(monkeypatch, "karate_club.py")
    lines = capsys.readouterr().out.splitlines()
    graph = networkx.relabel_nodes(networkx.karate_club_graph(), lambda v: v + 1)
    assert (EXAMPLES / "karate_club.csv").read_text().split() == ["one,other", *(f"{a},{b}" for a, b in graph.edges)]
    graph.remove_nodes_from([1, 34])
    expected = {f"member {v} stays with member {min(group)}" for group in networkx.connected_components(graph) for v in group}
    assert {line for line in lines if "stays with" in line} == expected
    assert {line.split()[1] for line in lines if "has rank" in line} == {"1", "2", "3", "33", "34"}
    assert lines[-1] == "changed in each round: " + ", ".join(map(str, changes_by_round(graph)))


def test_the_other_examples_print_what_they_should(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    run(monkeypatch, "collatz.py")
    expected = [f"{n}: {steps} steps" for n in range(2, 100) if (steps := collatz(n)) > 110]
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(expected)
    run(monkeypatch, "k_means.py")
    assert capsys.readouterr().out.count("centre") == 3


def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        n, steps = (3 * n + 1 if n % 2 else n // 2), steps + 1
    return steps
