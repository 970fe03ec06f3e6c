"""Writes ``by_apache.avro`` and ``by_apache.json`` with Apache's own library for Avro, which PyFlink brings along.

Run it with the Python that has PyFlink: ``python tests/unit/formats/record_avro.py``.
"""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import avro_cases as cases
from avro.datafile import DataFileWriter
from avro.io import BinaryEncoder, DatumWriter
from avro.schema import parse

HERE = Path(__file__).parent
RECORDS = 400
BLOCK_OF = 37


def main() -> None:
    schema = parse(json.dumps(cases.SCHEMA))
    with (HERE / "by_apache.avro").open("wb") as file, DataFileWriter(file, DatumWriter(), schema, codec="deflate") as writer:
        for i in range(RECORDS):
            writer.append(cases.record(i))
            if i % BLOCK_OF == BLOCK_OF - 1:
                writer.sync()
    single = []
    for i in range(12):
        stream = io.BytesIO()
        DatumWriter(schema).write(cases.record(i), BinaryEncoder(stream))
        single.append(stream.getvalue().hex())
    (HERE / "by_apache.json").write_text(json.dumps(single, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
