"""A hash table that stays for several probe sides."""

from __future__ import annotations

from wiesel.runtime.batch.hybrid_hash_join import HybridHashJoin
from wiesel.runtime.batch.spill_files import Spill


def test_a_table_in_memory_can_be_probed_again_behind_the_rest() -> None:
    spill = Spill(None)
    join = HybridHashJoin(1 << 20, spill, keep_table=True)
    join.add_build(b"a", b"one")
    for _ in range(3):
        assert join.probe(b"a", b"record") == ([b"one"], b"record")
        assert join.probe(b"b", b"record") is None
        assert list(join.rest()) == []
    spill.close()


def test_a_table_that_is_partly_on_disk_is_given_up() -> None:
    spill = Spill(None)
    join = HybridHashJoin(4 << 10, spill, keep_table=True)
    records = {f"{n}".encode(): f"{n:100d}".encode() for n in range(200)}
    for key, record in records.items():
        join.add_build(key, record)
    assert join.partitions_spilled
    found = [match for key in records if (match := join.probe(key, key)) is not None] + list(join.rest())
    assert sorted((probe, *build) for build, probe in found if probe is not None) == sorted(records.items())
    spill.close()
