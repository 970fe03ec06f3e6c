"""Starts a job from state made of data, reads what its checkpoint holds, and corrects it.

A shop has counted its customers' points elsewhere until now. They become the state of a job, which goes on counting. Its checkpoint is then
read as a table, and a customer's points are corrected in a new checkpoint.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from wiesel.common import Configuration, Row, Types
from wiesel.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from wiesel.datastream.state import ValueStateDescriptor
from wiesel.state_processor import KeyedStateBootstrapFunction, OperatorTransformation, SavepointReader, SavepointWriter

POINTS = ValueStateDescriptor("points", Types.LONG())
ORDERS = [("ada", 30), ("eve", 5), ("ada", 10)]


class PutPoints(KeyedStateBootstrapFunction[str, Row]):
    def open(self, runtime_context: Any) -> None:
        self.points = runtime_context.get_state(POINTS)

    def process_element(self, value: Row, ctx: Any) -> None:
        self.points.update(value.points)


class CountPoints(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.points = runtime_context.get_state(POINTS)

    def process_element(self, value: tuple[str, int], ctx: Any) -> Iterator[str]:
        points = (self.points.value() or 0) + value[1]
        self.points.update(points)
        yield f"{value[0]} has {points} points"


def points_of(table: Any) -> Any:
    """State made of a table with the columns customer and points."""
    return OperatorTransformation.bootstrap_with(table).key_by(lambda row: row["customer"], Types.STRING()).transform(PutPoints())


def count_on(checkpoint: str) -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"execution.state-recovery.path": checkpoint}))
    orders = env.from_collection(ORDERS, Types.TUPLE([Types.STRING(), Types.LONG()]))
    orders.key_by(lambda order: order[0], Types.STRING()).process(CountPoints(), Types.STRING()).uid("points").print()
    env.execute("points")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoints", type=Path, help="where the checkpoints go; a temporary directory if it is not given")
    directory = parser.parse_args().checkpoints or Path(tempfile.mkdtemp())

    elsewhere = pa.table({"customer": ["ada", "bob"], "points": [100, 20]})
    first = SavepointWriter.new_savepoint().with_operator("points", points_of(elsewhere)).write(str(directory / "from-elsewhere"))
    count_on(first)

    corrected = pa.table({"customer": ["ada", "bob"], "points": [200, 20]})
    writer = SavepointWriter.from_existing_savepoint(first).remove_operator("points").with_operator("points", points_of(corrected))
    second = writer.write(str(directory / "corrected"))
    for row in SavepointReader.read(second).keyed_state("points").to_arrow().to_pylist():
        print(f"corrected: {row['key']} had {row['points']} points")
    count_on(second)


if __name__ == "__main__":
    main()
