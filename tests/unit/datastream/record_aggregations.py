"""Records what PyFlink's sum, min, max, min_by and max_by make of sequences of records, in ``pyflink_aggregations.json``.

Run it with the Python of a PyFlink installation. Only PyFlink's Python code runs, no Java.
"""

from __future__ import annotations

import copy
import json
import pathlib
from typing import Any

# A record is written as [kind, values]; kind: value, tuple, list, row, named.
SEQUENCES: list[tuple[Any, list[Any]]] = [
    (0, [["value", 3], ["value", 1], ["value", 2], ["value", 1]]),
    (0, [["value", "b"], ["value", "a"], ["value", "c"]]),
    (1, [["tuple", ["a", 3, 0]], ["tuple", ["b", 1, 1]], ["tuple", ["c", 1, 2]], ["tuple", ["d", 5, 3]], ["tuple", ["e", 5, 4]]]),
    (-1, [["tuple", ["a", 3]], ["tuple", ["b", 1.5]], ["tuple", ["c", 2]]]),
    (1, [["list", ["a", 3]], ["list", ["b", 1]], ["list", ["c", 9]]]),
    (1, [["row", ["a", 3]], ["row", ["b", 1]], ["row", ["c", 9]]]),
    ("n", [["named", ["a", 3]], ["named", ["b", 1]], ["named", ["c", 9]], ["named", ["d", 1]]]),
    (0, [["named", ["b", 3]], ["named", ["a", 1]]]),
]


def decode(record: list[Any], row: Any) -> Any:
    """Return the record that was written."""
    kind, value = record
    if kind == "named":
        return row(name=value[0], n=value[1])
    return {"value": lambda v: v, "tuple": tuple, "list": list, "row": lambda v: row(*v)}[kind](value)


def encode(record: Any, kind: str) -> list[Any]:
    """Write a record."""
    return [kind, record if kind == "value" else list(record)]


def main() -> None:
    """Write the file."""
    from pyflink.common import Row
    from pyflink.datastream.data_stream import KeyedStream

    class Recorder(KeyedStream):
        def __init__(self) -> None:
            # No stream behind it: what the aggregation hands to reduce() is all that is wanted.
            self.function: Any = None

        def reduce(self, func: Any) -> Any:
            self.function = func

    cases = []
    for position, sequence in SEQUENCES:
        for kind in ("sum", "min", "max", "min_by", "max_by"):
            recorder = Recorder()
            getattr(recorder, kind)(position)
            records = [decode(r, Row) for r in sequence]
            state, results = records[0], [encode(records[0], sequence[0][0])]
            for record in records[1:]:
                # PyFlink changes lists and rows in place, but what it has emitted is a copy in another process.
                state = recorder.function.reduce(copy.deepcopy(state), record)
                results.append(encode(state, sequence[0][0]))
            cases.append({"position": position, "kind": kind, "records": sequence, "results": results})
    target = pathlib.Path(__file__).with_name("pyflink_aggregations.json")
    target.write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")


if __name__ == "__main__":
    main()
