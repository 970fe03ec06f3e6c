"""Each kind of relation has a record of its traits, which agrees with the tables of rules of all subjects."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from importlib import import_module
from pathlib import Path

import pytest

import wiesel.sql
from wiesel.sql.binding import decorrelation
from wiesel.sql.costs import cost, estimator
from wiesel.sql.explain import logical, physical, statement
from wiesel.sql.physical import translator
from wiesel.sql.plan import changelog, documents, kept_state, upsert_keys
from wiesel.sql.plan.relations import Relation
from wiesel.sql.plan.traits import TRAITS, Own
from wiesel.sql.rules import prune

SOURCES = Path(wiesel.sql.__file__).parent
TABLES: dict[Own, Collection[str]] = {
    Own.CHANGELOG: changelog._RULES,
    Own.KEYS: upsert_keys._KEYS,
    Own.STATE: kept_state._KEPT,
    Own.COST: cost._RULES,
    Own.ESTIMATE: estimator._RULES,
    Own.PRUNING: prune._RULES,
    Own.DECORRELATION: decorrelation._HANDLERS,
    Own.TRANSLATION: translator._TRANSLATIONS,
    Own.DESCRIPTION: statement._DESCRIBED,
    Own.LOGICAL_NODE: logical._NODES,
    Own.PHYSICAL_NODE: physical._NODES,
}


def kinds() -> dict[str, type[Relation]]:
    """Return the classes of relations, by name: all in the sources, whether they are imported or not."""
    for path in SOURCES.rglob("*.py"):
        bases = {
            ast.unparse(base) for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef) for base in node.bases
        }
        if "Relation" in bases:
            import_module(".".join(("wiesel.sql", *path.relative_to(SOURCES).with_suffix("").parts)))
    return {each.__name__: each for each in subclasses(Relation) if each.__module__.startswith("wiesel.sql.")}


def subclasses(of: type[Relation]) -> Iterator[type[Relation]]:
    for each in of.__subclasses__():
        yield each
        yield from subclasses(each)


def test_each_kind_has_a_record() -> None:
    assert len(TRAITS) > 25
    assert set(TRAITS) == set(kinds())


@pytest.mark.parametrize("subject", TABLES, ids=lambda subject: subject.name)
def test_the_records_agree_with_the_rules(subject: Own) -> None:
    assert {kind for kind, own in TRAITS.items() if subject in own} == set(TABLES[subject])


def test_no_subject_is_without_a_test() -> None:
    single = {each for each in Own.__members__.values() if each.value.bit_count() == 1}
    assert single == {*TABLES, Own.PARALLELISM}, "the kinds with PARALLELISM are computed from the records"


def test_kinds_with_a_parallelism_take_a_hint() -> None:
    hinted = {name for name, of in kinds().items() if "parallelism" in of.__dataclass_fields__}
    assert hinted == {kind for kind, own in TRAITS.items() if Own.PARALLELISM in own}


def test_compiled_plans_can_name_each_kind() -> None:
    assert set(TRAITS) <= set(documents._classes())
