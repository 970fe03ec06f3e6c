"""Sorts records that lie as bytes, key and record side by side, as bounded data are sorted; or the same records as objects."""

import argparse
import gc
import json
import time
from operator import itemgetter
from pathlib import Path

from wiesel.runtime.batch.external_sort import ExternalSorter, record_of
from wiesel.runtime.batch.record_codec import codec_for
from wiesel.runtime.batch.sort_keys import sort_encoder
from wiesel.runtime.batch.spill_files import Spill
from wiesel.types import Types

RECORD = Types.TUPLE([Types.LONG(), Types.DOUBLE(), Types.BOOLEAN(), Types.LONG()])
STEP = 7_919
ENOUGH = 1 << 40


def records(count):
    """Yield records whose keys, each once, come in another order than theirs."""
    return ((n * STEP % count, n * 0.5, n % 2 == 0, n) for n in range(count))


def resident_mb():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


class Binary:
    """As the operators do it."""

    def __init__(self):
        self._codec, self._key = codec_for(RECORD), sort_encoder(Types.LONG(), ascending=True)
        self._spill = Spill(None)
        self._sorter = ExternalSorter(ENOUGH, self._spill)

    def take(self, source):
        add, key, encode = self._sorter.add, self._key, self._codec.encode
        for record in source:
            add(key(record[0]), encode(record))

    def ordered(self):
        return map(self._codec.decode, map(record_of, self._sorter.sorted_entries()))


class Objects:
    """A list of tuples."""

    def take(self, source):
        self._records = list(source)

    def ordered(self):
        self._records.sort(key=itemgetter(0))
        return iter(self._records)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", help="not used: there is one process")
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--layout", choices=("binary", "objects"), default="binary")
    options = parser.parse_args()

    layout = Binary() if options.layout == "binary" else Objects()
    collections, began_gc, spent_gc = [0], [0.0], [0.0]

    def on_collection(phase, info):
        if phase == "start":
            began_gc[0] = time.perf_counter()
        else:
            spent_gc[0] += time.perf_counter() - began_gc[0]
            collections[0] += info["generation"] == 2

    gc.collect()
    before_mb = resident_mb()
    gc.callbacks.append(on_collection)
    began = time.perf_counter()
    layout.take(records(options.records))
    data_mb = resident_mb() - before_mb
    taken = time.perf_counter()
    ordered = layout.ordered()
    first = next(ordered)
    sorted_at = time.perf_counter()
    total, before = first[3], first[0]
    for key, _, _, number in ordered:
        assert key == before + 1, "the records are not in order"
        before, total = key, total + number
    ended = time.perf_counter()
    print(
        json.dumps(
            {
                "count": before + 1,
                "total": total,
                "take_s": round(taken - began, 3),
                "sort_s": round(sorted_at - taken, 3),
                "read_s": round(ended - sorted_at, 3),
                "data_mb": round(data_mb, 1),
                "gc_share": round(spent_gc[0] / (ended - began), 4),
                "major_collections": collections[0],
            }
        ),
        flush=True,
    )


if __name__ == "__main__":
    main()
