"""Internal. Hybrid hash join over binary records: the build side in a hash table, with partitions on disk when memory is short.

L. D. Shapiro, "Join Processing in Database Systems with Large Main Memories", ACM TODS 11(3), 1986; partitions are spilled while building,
the largest first (M. Nakayama, M. Kitsuregawa, M. Takagi, "Hash-Partitioned Join Method Using Dynamic Destaging Strategy", VLDB 1988). A
partition on disk is joined in the same way with other bits of the hash; if those do not divide it (many records of one key) it is joined
block by block (G. Graefe, "Query Evaluation Techniques for Large Databases", ACM Computing Surveys 25(2), 1993, section 5). Keys are
compared as bytes; no record is decoded here.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from sys import getsizeof
from typing import TypeAlias

from wiesel.runtime.batch.spill_files import Spill, SpillFile

__all__ = ["HybridHashJoin", "Match"]

Match: TypeAlias = "tuple[Sequence[bytes], bytes | None]"
"""Records of the build side, and the matching record of the probe side. One of the two is empty without a match."""

_PARTITION_BITS = 4
_PARTITIONS = 1 << _PARTITION_BITS
_DEEPEST = 6
_MIX = 0x9E3779B1
_KEY_BYTES = 200
"""Overhead of a new key in addition to its bytes: the slot of the dict, the list and its first slot."""

_MATCHED_BYTES = 80
_NOT_DIVIDED = 0.9


class _SpilledSide:
    """The records of one side of a partition that is on disk; ``(key, record)`` alternate in its blocks."""

    def __init__(self, spill: Spill, block_bytes: int) -> None:
        self._spill = spill
        self._block_bytes = block_bytes
        self._file: SpillFile | None = None
        self._block: list[bytes] = []
        self._block_used = 0
        self.bytes = 0

    def add(self, key: bytes, record: bytes) -> None:
        self._block += (key, record)
        size = getsizeof(key) + getsizeof(record)
        self._block_used += size
        self.bytes += size
        if self._block_used >= self._block_bytes:
            self.flush()

    def flush(self) -> None:
        if self._block:
            if self._file is None:
                self._file = self._spill.open()
            self._file.append(self._block)
            self._block = []
            self._block_used = 0

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        if self._file is not None:
            for block in self._file.blocks():
                yield from zip(block[::2], block[1::2], strict=True)
        yield from zip(self._block[::2], self._block[1::2], strict=True)

    def release(self) -> None:
        self._block = []
        if self._file is not None:
            self._spill.release(self._file)
            self._file = None


class _Partition:
    __slots__ = ("build", "matched", "probe", "table", "used")

    def __init__(self) -> None:
        self.table: dict[bytes, list[bytes]] = {}
        self.matched: set[bytes] = set()
        self.used = 0
        self.build: _SpilledSide | None = None
        self.probe: _SpilledSide | None = None


class HybridHashJoin:
    """Joins two sides by key. Calls: ``add_build`` for all of the build side, ``probe`` for all of the probe side, then ``rest``.

    Args:
        memory_bytes: Memory limit of the table and the write buffers.
        spill: Storage of partitions.
        keep_build: Also return records of the build side without a match (outer join).
        keep_probe: The same for the other side.
        keep_table: Retain the table for another probe side, which is possible if no partition was spilled.

    Attributes:
        partitions_spilled: Number of spilled partitions, on all levels.
        peak_bytes: Peak size of the table.
    """

    def __init__(
        self,
        memory_bytes: int,
        spill: Spill,
        *,
        keep_build: bool = False,
        keep_probe: bool = False,
        keep_table: bool = False,
        level: int = 0,
    ) -> None:
        self._memory = memory_bytes
        self._spill = spill
        self._keep_build = keep_build
        self._keep_probe = keep_probe
        self._keep_table = keep_table
        self._level = level
        self._shift = 32 - _PARTITION_BITS * (level + 1)
        # A partition on disk has two write buffers, of build and probe side.
        self._block_bytes = min(64 << 10, max(256, memory_bytes // (8 * _PARTITIONS)))
        self._partitions = [_Partition() for _ in range(_PARTITIONS)]
        self._used = 0
        self._build_bytes = 0
        self.partitions_spilled = 0
        self.peak_bytes = 0

    def _of(self, key: bytes) -> _Partition:
        return self._partitions[((zlib.crc32(key) * _MIX & 0xFFFFFFFF) >> self._shift) & (_PARTITIONS - 1)]

    def add_build(self, key: bytes, record: bytes) -> None:
        """Add a record of the build side."""
        self._build_bytes += getsizeof(key) + getsizeof(record)
        partition = self._of(key)
        if partition.build is not None:
            partition.build.add(key, record)
            return
        records = partition.table.get(key)
        size = getsizeof(record) + 8
        if records is None:
            partition.table[key] = [record]
            size += getsizeof(key) + _KEY_BYTES + (_MATCHED_BYTES if self._keep_build else 0)
        else:
            records.append(record)
        partition.used += size
        self._used += size
        if self._used > self._memory:
            self._spill_largest()

    def _spill_largest(self) -> None:
        self.peak_bytes = max(self.peak_bytes, self._used)
        partition = max(self._partitions, key=lambda p: p.used)
        side = partition.build = _SpilledSide(self._spill, self._block_bytes)
        for key, records in partition.table.items():
            for record in records:
                side.add(key, record)
        self._used -= partition.used
        partition.used = 0
        partition.table = {}
        self.partitions_spilled += 1

    def probe(self, key: bytes, record: bytes) -> Match | None:
        """Probe with a record; return its matches known so far."""
        partition = self._of(key)
        if partition.build is not None:
            if partition.probe is None:
                partition.probe = _SpilledSide(self._spill, self._block_bytes)
            partition.probe.add(key, record)
            return None
        found = partition.table.get(key)
        if found is None:
            return ((), record) if self._keep_probe else None
        if self._keep_build:
            partition.matched.add(key)
        return found, record

    def rest(self) -> Iterator[Match]:
        """Yield the remaining results after all of the probe side: build records without a match, and all partitions on disk."""
        self.peak_bytes = max(self.peak_bytes, self._used)
        if self._keep_table and not self.partitions_spilled:
            return
        for partition in self._partitions:
            if self._keep_build:
                for key, records in partition.table.items():
                    if key not in partition.matched:
                        yield records, None
            partition.table = {}
            partition.matched = set()
        self._used = 0
        for partition in self._partitions:
            for side in (partition.build, partition.probe):
                if side is not None:
                    side.flush()
        for partition in self._partitions:
            if partition.build is not None:
                yield from self._join_spilled(partition.build, partition.probe or _SpilledSide(self._spill, self._block_bytes))

    def _join_spilled(self, build: _SpilledSide, probe: _SpilledSide) -> Iterator[Match]:
        undivided = self._level > 0 and build.bytes > _NOT_DIVIDED * self._build_bytes
        if undivided or self._level >= _DEEPEST:
            yield from self._join_blocks(build, probe)
        else:
            yield from self._join_again(build, probe)
        build.release()
        probe.release()

    def _join_again(self, build: _SpilledSide, probe: _SpilledSide) -> Iterator[Match]:
        inner = HybridHashJoin(self._memory, self._spill, keep_build=self._keep_build, keep_probe=self._keep_probe, level=self._level + 1)
        for key, record in build:
            inner.add_build(key, record)
        for key, record in probe:
            match = inner.probe(key, record)
            if match is not None:
                yield match
        yield from inner.rest()
        self.partitions_spilled += inner.partitions_spilled
        self.peak_bytes = max(self.peak_bytes, inner.peak_bytes)

    def _join_blocks(self, build: _SpilledSide, probe: _SpilledSide) -> Iterator[Match]:
        """Join as much of the build side as fits with all of the probe side, then the next block."""
        found_once = bytearray()
        for table in self._blocks(build):
            matched: set[bytes] = set()
            for number, (key, record) in enumerate(probe):
                if number >= len(found_once):
                    found_once.append(0)
                found = table.get(key)
                if found is not None:
                    found_once[number] = 1
                    if self._keep_build:
                        matched.add(key)
                    yield found, record
            if self._keep_build:
                for key, records in table.items():
                    if key not in matched:
                        yield records, None
        if self._keep_probe:
            for number, (_, record) in enumerate(probe):
                if not found_once[number]:
                    yield (), record

    def _blocks(self, build: _SpilledSide) -> Iterator[dict[bytes, list[bytes]]]:
        table: dict[bytes, list[bytes]] = {}
        used = 0
        for key, record in build:
            table.setdefault(key, []).append(record)
            used += getsizeof(record) + _KEY_BYTES
            if used > self._memory:
                self.peak_bytes = max(self.peak_bytes, used)
                yield table
                table = {}
                used = 0
        if table:
            yield table
