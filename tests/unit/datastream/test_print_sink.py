"""Printed lines look as PyFlink's do."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from wiesel.common import Row, RowKind, Types
from wiesel.connectors.print.sink import PrintReceiver, PrintSink, line_prefix
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.spi.sink import WriterInitContext


def lines(sink: PrintSink, values: list[Any], subtask: int = 0, parallelism: int = 1) -> list[str]:
    sent: list[Any] = []
    context = WriterInitContext("job", "operator", subtask, parallelism, 1, 0, lambda channel, payload: sent.append((channel, payload)))
    writer = pickle.loads(pickle.dumps(sink)).create_writer(context)
    writer.write_batch(values, None)
    writer.flush(True)
    writer.close()
    ((channel, payload),) = sent
    assert channel == sink.channel
    return list(payload)


def test_prefixes() -> None:
    # Flink's PrintSinkOutputWriter: the identifier if there is one, the subtask from 1 on if there are several.
    assert [line_prefix(i, 2, p) for i, p in [("", 1), ("", 4), ("id", 1), ("id", 4)]] == ["", "3> ", "id> ", "id:3> "]


def test_lines_have_the_prefix() -> None:
    assert lines(PrintSink(None, "id"), [1, 2], subtask=1, parallelism=2) == ["id:2> 1", "id:2> 2"]


@pytest.mark.parametrize(
    ("kind", "value", "line"),
    [
        (None, ("a", 1.0, True, None), "('a', 1.0, True, None)"),
        (Types.PICKLED_BYTE_ARRAY(), {"k": [1]}, "{'k': [1]}"),
        (Types.PICKLED_BYTE_ARRAY(), Row(a=1), "Row(a=1)"),
        (Types.STRING(), "text", "text"),
        (Types.BOOLEAN(), True, "true"),
        (Types.DOUBLE(), 1e10, "1.0E10"),
        (Types.TUPLE([Types.STRING(), Types.INT(), Types.BOOLEAN()]), ("a", 1, False), "(a,1,false)"),
        (Types.ROW([Types.STRING(), Types.BOOLEAN()]), Row("a", True), "+I[a,True]"),
        (Types.ROW([Types.STRING()]), Row.of_kind(RowKind.DELETE, "a"), "-D[a]"),
        (Types.LIST(Types.INT()), [1, 2], "[1, 2]"),
        (Types.MAP(Types.STRING(), Types.INT()), {"a": 1}, "{a=1}"),
    ],
)
def test_text_follows_the_declared_type(kind: Any, value: Any, line: str) -> None:
    assert lines(PrintSink(kind), [value]) == [line]


def test_the_driver_prints_batches_where_stdout_leads_now(capsys: pytest.CaptureFixture[str]) -> None:
    receiver = PrintSink().create_receiver()
    receiver.receive(["a", "b"])
    receiver.receive([])
    PrintReceiver(to_std_err=True).receive(["c"])
    assert capsys.readouterr() == ("a\nb\n", "c\n")


def test_sinks_to_one_stream_share_a_channel() -> None:
    assert PrintSink().channel == PrintSink(None, "x").channel != PrintSink(to_std_err=True).channel


def test_print_takes_type_and_identifier_from_the_call(env: StreamExecutionEnvironment) -> None:
    sink = env.from_collection([1], Types.INT()).key_by(str).print("id")._operator("").node.operator.payload
    assert (sink["sink"].sink_identifier, sink["sink"].input_type, sink["input_type"]) == ("id", Types.INT(), Types.INT())
