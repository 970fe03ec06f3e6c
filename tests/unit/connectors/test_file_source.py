from __future__ import annotations

import bz2
import gzip
import lzma
import os
import random
import zlib
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pytest

from tests.unit.connectors.reading import World, read_with_restarts
from wiesel.common import Duration, Types
from wiesel.connectors.filesystem.enumeration import FileEnumeratorProvider
from wiesel.connectors.filesystem.source import FileSource
from wiesel.core.errors import ConnectorError, ProgramError
from wiesel.formats.csv import CsvReaderFormat, CsvSchema
from wiesel.formats.json import JsonLinesFormat
from wiesel.formats.parquet import ParquetColumnarRowInputFormat
from wiesel.spi.file_formats import FilePiece, RecordReader, StreamFormat
from wiesel.spi.source import Boundedness

TEXT = StreamFormat.text_line_format()


def source(*paths: Any, cut: int | None = None, file_format: Any = TEXT) -> FileSource:
    builder = FileSource.for_record_stream_format(file_format, *map(str, paths))
    return builder.set_file_enumerator(FileEnumeratorProvider(cut)).build()


def test_all_files_in_order_without_hidden_ones(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", "sub/c.txt", "sub/deep/d.txt", ".hidden", "_temporary", "_dir/e.txt", ".dir/f.txt", "sub/.g"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name} 1\n{name} 2\n")
    (tmp_path / "empty.txt").touch()
    names = ["a.txt", "b.txt", "sub/c.txt", "sub/deep/d.txt"]
    assert World(source(tmp_path)).run() == [f"{name} {n}" for name in names for n in (1, 2)]
    assert World(source(tmp_path / "b.txt", tmp_path / "a.txt")).run() == ["b.txt 1", "b.txt 2", "a.txt 1", "a.txt 2"]
    # A file under two of the paths is read once.
    assert World(source(tmp_path / "b.txt", tmp_path)).run()[:4] == ["b.txt 1", "b.txt 2", "a.txt 1", "a.txt 2"]
    assert World(source(f"file://{tmp_path}/a.txt")).run() == ["a.txt 1", "a.txt 2"]


def test_a_missing_path_is_an_error_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(ConnectorError, match=r"there is no file or folder '.*nothing'"):
        World(source(tmp_path / "nothing"))
    with pytest.raises(ConnectorError, match="no file system for 'nosuch://x'"):
        World(source("nosuch://x"))


def test_a_file_that_vanishes_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1\n")
    world = World(source(tmp_path))
    (tmp_path / "a").unlink()
    with pytest.raises(ConnectorError, match="a is no longer there"):
        world.run()


def lines_of(seed: int, count: int) -> list[str]:
    chance = random.Random(seed)
    return ["".join(chance.choices("abc äöü€😀 ", k=chance.randrange(0, 60))) for _ in range(count)]


@pytest.mark.parametrize("cut", [1, 7, 100, 1000, None])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_splits_share_the_lines(tmp_path: Path, cut: int | None, end: str) -> None:
    lines = lines_of(1, 60)
    (tmp_path / "a.txt").write_bytes(end.join(lines).encode() + (b"" if lines[-1] else end.encode()))
    world = World(source(tmp_path, cut=cut), 3)
    assert sorted(world.run()) == sorted(lines)
    assert World(source(tmp_path, cut=cut)).run() == lines


@pytest.mark.parametrize("name", ["a.gz", "a.gzip", "a.bz2", "a.xz", "a.deflate", "a.zst", "a.GZ", "a.txt"])
@pytest.mark.parametrize("every", [1, 2, 1000])
def test_restarts_repeat_and_lose_nothing(tmp_path: Path, name: str, every: int) -> None:
    lines = lines_of(2, 8_000)
    data = ("\n".join(lines) + "\n").encode()
    compress = {
        "gz": gzip.compress,
        "gzip": gzip.compress,
        "bz2": bz2.compress,
        "xz": lzma.compress,
        "deflate": zlib.compress,
        "zst": lambda raw: pa.Codec("zstd").compress(raw, asbytes=True),
        "txt": bytes,
    }
    (tmp_path / name).write_bytes(compress[name.split(".")[1].lower()](data))
    (tmp_path / "b.txt").write_bytes(data)
    cut = 30_000
    assert read_with_restarts(source(tmp_path, cut=cut), 1, every) == lines * 2


def test_polls_are_short(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\n" * 100_000)
    world = World(source(tmp_path))
    assert world.run() == [""] * 100_000
    assert max(world.readers[0].chunks) <= 4096


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.gz", gzip.compress(b"x\n" * 10_000)[:-20]),
        ("a.gz", b"no gzip"),
        ("a.zst", b"no zstd"),
        ("a.deflate", zlib.compress(b"abc")[:-1]),
    ],
    ids=["gz-torn", "gz-other", "zst-other", "deflate-torn"],  # gzip's bytes hold the time
)
def test_damaged_compressed_files_are_errors(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ConnectorError, match=f"cannot read file .*{name}"):
        World(source(tmp_path)).run()


@pytest.mark.parametrize("charset", ["utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "gbk"])
def test_other_charsets(tmp_path: Path, charset: str) -> None:
    lines = ["äöü" if charset in ("latin-1", "cp1252") else "x字y", "", "abc"] * 5000
    (tmp_path / "a").write_bytes(("\r\n".join(lines) + "\r\n").encode(charset))
    text = source(tmp_path, cut=1000, file_format=StreamFormat.text_line_format(charset))
    assert World(text).run() == lines
    assert read_with_restarts(text, 1, 2) == lines


def test_an_unknown_charset_is_an_error() -> None:
    with pytest.raises(ProgramError, match="unknown charset 'nonsense'"):
        StreamFormat.text_line_format("nonsense")


def test_a_folder_that_cannot_be_listed_for_a_while_is_listed_again(tmp_path: Path) -> None:
    folder, away = tmp_path / "folder", tmp_path / "away"
    folder.mkdir()
    (folder / "a").write_text("1\n")
    world = World(FileSource.for_record_stream_format(TEXT, str(folder)).monitor_continuously(100).build())
    world.step(0)
    folder.rename(away)
    world.advance(100)
    away.rename(folder)
    (folder / "b").write_text("2\n")
    world.advance(100)
    for _ in range(10):
        world.step(0)
    assert world.values() == ["1", "2"]


def test_new_files_are_found(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1\n")
    builder = FileSource.for_record_stream_format(TEXT, str(tmp_path)).monitor_continuously(Duration.of_millis(100))
    monitor = builder.build()
    assert monitor.boundedness is Boundedness.CONTINUOUS_UNBOUNDED
    world = World(monitor, 2)

    def read() -> list[str]:
        for _ in range(10):
            world.step(0)
            world.step(1)
        return world.values()

    assert read() == ["1"]
    (tmp_path / "c").write_text("2\n")
    (tmp_path / "b").write_text("3\n")
    os.utime(tmp_path / "c", (10, 10))
    os.utime(tmp_path / "b", (20, 20))
    assert read() == ["1"]
    world.advance(100)
    assert sorted(read()) == ["1", "2", "3"]
    # Files that were found once are not read again, whatever happens to them, also after a restart.
    (tmp_path / "a").write_text("changed\n")
    world.advance(100)
    assert len(read()) == 3
    world = World(monitor, 2, world.snapshot(), world.clock)
    (tmp_path / "d").write_text("4\n")
    world.advance(100)
    assert read() == ["4"]
    assert not any(r.ended for r in world.readers)
    assert builder.process_static_file_set().build().boundedness is Boundedness.BOUNDED


def test_many_small_files_are_handed_out_together(tmp_path: Path) -> None:
    for i in range(500):
        (tmp_path / f"{i:03d}").write_text(f"{i}\n")
    world = World(source(tmp_path), 2)
    asked = 0
    answer = world.enumerator.handle_split_request

    def count(subtask: int) -> None:
        nonlocal asked
        asked += 1
        answer(subtask)

    world.enumerator.handle_split_request = count  # type: ignore[method-assign]
    assert sorted(world.run(), key=int) == [str(i) for i in range(500)]
    assert asked < 60


def test_files_of_fsspec() -> None:
    fs = fsspec.filesystem("memory")
    fs.pipe("/in/a.txt", b"1\n2\n")
    fs.pipe("/in/sub/b.txt.gz", gzip.compress(b"3\n"))
    fs.pipe("/in/.hidden", b"no\n")
    try:
        assert World(source("memory://in")).run() == ["1", "2", "3"]
        assert read_with_restarts(source("memory://in", cut=2), 1, 1) == ["1", "2", "3"]
        with pytest.raises(ConnectorError, match="there is no file or folder"):
            World(source("memory://nothing"))
    finally:
        fs.rm("/in", recursive=True)


ROWS = Types.ROW_NAMED(["id", "name"], [Types.LONG(), Types.STRING()])


def formats(path: Path, count: int) -> dict[str, Any]:
    """Write the same rows in every format."""
    schema = CsvSchema.builder().add_number_column("id").add_string_column("name").set_use_header().build()
    names = [f"name\n{i}" if i % 100 == 7 else f"name {i}" for i in range(count)]
    with (path / "a.csv").open("w", newline="") as file:
        file.write("id,name\n" + "".join(f'{i},"{name}"\n' for i, name in enumerate(names)))
    import json

    (path / "a.jsonl").write_text("".join(json.dumps({"id": i, "name": name}) + "\n" for i, name in enumerate(names)))
    table = pa.table({"other": [0.5] * count, "name": names, "id": range(count)})
    import pyarrow.parquet as pq

    pq.write_table(table, path / "a.parquet", row_group_size=3000)
    return {"csv": CsvReaderFormat.for_schema(schema), "jsonl": JsonLinesFormat(ROWS), "parquet": ParquetColumnarRowInputFormat(ROWS)}


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("every", [1, 3, 1000])
def test_rows_of_all_formats_with_restarts(tmp_path: Path, kind: str, every: int) -> None:
    count = 9_876
    file_format = formats(tmp_path, count)[kind]
    path = str(tmp_path / f"a.{kind}")
    make = FileSource.for_bulk_file_format if kind == "parquet" else FileSource.for_record_stream_format
    builder = make(file_format, path)
    files = builder.set_file_enumerator(FileEnumeratorProvider(40_000)).build()
    assert repr(files.produced_type) == "RowTypeInfo(id: Long, name: String)"
    rows = read_with_restarts(files, 1, every)
    assert [row.id for row in rows] == list(range(count))
    assert rows[107].name == "name\n107" and rows[108].name == "name 108"
    assert {tuple(row._fields) for row in rows} == {("id", "name")}
    world = World(files, 3)
    assert sorted(row.id for row in world.run()) == list(range(count))


def test_an_unfitting_format_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match="for_record_stream_format got"):
        FileSource.for_record_stream_format(ParquetColumnarRowInputFormat(ROWS), "x")  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match="for_bulk_file_format got"):
        FileSource.for_bulk_file_format(TEXT, "x")  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match="are not paths"):
        FileSource.for_record_stream_format(TEXT)
    with pytest.raises(ProgramError, match="monitor_continuously"):
        FileSource.for_record_stream_format(TEXT, "x").monitor_continuously(0)
    (tmp_path / "a").write_text("no parquet")
    bulk = FileSource.for_bulk_file_format(ParquetColumnarRowInputFormat(ROWS), str(tmp_path)).build()
    with pytest.raises(ConnectorError, match="is no Parquet file"):
        World(bulk).run()


class Fixed(StreamFormat):
    """A format of a user's own: records of four bytes."""

    splittable = False

    def create_reader(self, stream: Any, piece: FilePiece) -> RecordReader:
        return FixedReader(stream, piece)


class FixedReader(RecordReader):
    def __init__(self, stream: Any, piece: FilePiece) -> None:
        self.stream, self.position = stream, piece.position or 0
        stream.seek(self.position)

    position = 0

    def read_block(self) -> list[bytes] | None:
        data = self.stream.read(4 * 100)
        self.position += len(data)
        return [data[i : i + 4] for i in range(0, len(data), 4)] or None


def test_a_format_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"".join(b"%04d" % i for i in range(1000)))
    assert read_with_restarts(source(tmp_path, file_format=Fixed()), 1, 2) == [b"%04d" % i for i in range(1000)]
