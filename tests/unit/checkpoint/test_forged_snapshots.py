"""Looking at a snapshot runs nothing that is in it; its state is read only if it is signed, or trusted by whoever reads it."""

from __future__ import annotations

import json
import os
import shutil
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.unit.engine.stored_job import StoredJob, environment, totals
from wiesel.checkpoint.coordinator import Checkpoint
from wiesel.checkpoint.metadata import decode_metadata, encode_metadata
from wiesel.checkpoint.snapshot import OperatorStateSnapshot, Packed
from wiesel.checkpoint.state_files import with_files
from wiesel.checkpoint.store import StateFiles
from wiesel.common import Configuration, Types, WatermarkStrategy
from wiesel.core.errors import CorruptCheckpointError, UntrustedSnapshotError
from wiesel.datastream import KeyedProcessFunction
from wiesel.datastream.state import ValueStateDescriptor
from wiesel.engine.base import JobSettings
from wiesel.engine.registry import ENVIRONMENT_VARIABLE, snapshot_key
from wiesel.platform.cli import main
from wiesel.state.backend import StateFile
from wiesel.testing import ManualSource

KEY = b"a key of sixty-four digits"


class Attack:
    """Makes a directory when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> Any:
        return os.makedirs, (str(self.marker), 0o777, True)


class SignedJob(StoredJob):
    def _settings(self, config: Any) -> JobSettings:
        return replace(super()._settings(config), snapshot_key=snapshot_key(make=True))


class Keeps(KeyedProcessFunction):
    """Keeps a value too large for the metadata."""

    def open(self, runtime_context):
        self.kept = runtime_context.get_state(ValueStateDescriptor("sum", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value, ctx):
        self.kept.update(Attack(value) if isinstance(value, Path) else value)
        yield 1


@pytest.fixture(autouse=True)
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(tmp_path / "registry"))
    return tmp_path / "registry"


def signed_savepoint(directory: Path, value: Any) -> Path:
    env = environment(None)
    stream = env.from_source(numbers := ManualSource(), WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
    env.collect(stream.key_by(lambda value: "k", Types.STRING()).process(Keeps()).uid("total"))
    with SignedJob(env._generate_stream_graph(), Configuration(env._config), None) as job:
        numbers.push(value)
        job.settle()
        return Path(job.savepoint(directory))


def forged(source: Path, directory: Path, change: Callable[[Checkpoint], Checkpoint]) -> Path:
    """Return a copy of a savepoint with other metadata, whose checksum is right."""
    shutil.copytree(source, directory)
    checkpoint, job = decode_metadata((source / "_metadata").read_bytes(), "here")
    (directory / "_metadata").write_bytes(encode_metadata(change(checkpoint), job))
    return directory


def attacked(marker: Path) -> Callable[[Checkpoint], Checkpoint]:
    """Put the attack everywhere where values of sources and sinks are."""

    def change(checkpoint: Checkpoint) -> Checkpoint:
        attack = Attack(marker)

        def part(state: OperatorStateSnapshot) -> OperatorStateSnapshot:
            return replace(state, reader_splits=attack, writer_state=attack, committables=attack)  # type: ignore[arg-type]

        tasks = {
            task: replace(snapshot, operators={name: part(state) for name, state in snapshot.operators.items()})
            for task, snapshot in checkpoint.tasks.items()
        }
        return replace(checkpoint, tasks=tasks, enumerators=dict.fromkeys(checkpoint.enumerators, attack))

    return change


def wiesel(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def test_the_attack_works_where_it_is_unpickled(tmp_path: Path) -> None:
    forged_path = forged(signed_savepoint(tmp_path / "a", 1), tmp_path / "forged", attacked(tmp_path / "marker"))
    checkpoint, _ = decode_metadata((forged_path / "_metadata").read_bytes(), "here")
    packed = [p.reader_splits for t in checkpoint.tasks.values() for p in t.operators.values()]
    assert packed and not (tmp_path / "marker").exists()
    assert isinstance(packed[0], Packed)
    packed[0].unpacked()
    assert (tmp_path / "marker").exists()


def test_no_command_that_looks_at_a_snapshot_runs_what_is_in_it(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    path = forged(signed_savepoint(tmp_path / "a", 1), tmp_path / "all" / "forged", attacked(marker))
    program = tmp_path / "program.py"
    program.write_text(
        "from wiesel.datastream import StreamExecutionEnvironment\n"
        "env = StreamExecutionEnvironment.get_execution_environment()\n"
        "env.from_collection([1]).print()\n"
        "env.execute()\n"
    )
    listed = wiesel("savepoint", "list", str(path.parent))
    assert listed.exit_code == 0 and str(path) in listed.output
    assert "dropped" in wiesel("savepoint", "check", str(program), str(path)).output
    shown = wiesel("state", "show", str(path))
    assert shown.exit_code == 0 and "total" in shown.output
    for what in ("--state=sum", "--timers"):
        refused = wiesel("state", "read", str(path), "--uid", "total", what)
        assert refused.exit_code == 1 and "is not signed with the key of this user's jobs" in refused.output and "--trust" in refused.output
    assert wiesel("savepoint", "dispose", str(path)).exit_code == 0 and not path.exists()
    assert not marker.exists()


def test_state_is_read_if_it_is_signed_or_trusted_and_never_else(tmp_path: Path, registry: Path) -> None:
    marker = tmp_path / "marker"
    path = signed_savepoint(tmp_path / "a", marker)
    assert not marker.exists()
    arguments = ("state", "read", str(path), "--uid", "total")
    # With the key of whoever ran the job.
    assert wiesel(*arguments).exit_code == 0
    marker.rmdir()
    # Somebody else's key, and none.
    (registry / "snapshots.key").write_text("another one")
    assert wiesel(*arguments).exit_code == 1
    (registry / "snapshots.key").unlink()
    refused = wiesel(*arguments)
    assert refused.exit_code == 1 and "there is no key to tell who wrote" in refused.output
    assert not marker.exists()
    assert wiesel(*arguments, "--trust").exit_code == 0
    assert marker.exists()


def test_the_key_may_be_in_a_file_of_the_users(tmp_path: Path, registry: Path) -> None:
    path = signed_savepoint(tmp_path / "a", 1)
    arguments = ("state", "read", str(path), "--uid", "total", "--key-file", str(tmp_path / "key"))
    assert "missing or empty" in wiesel(*arguments).output
    shutil.move(registry / "snapshots.key", tmp_path / "key")
    assert wiesel(*arguments).exit_code == 0
    (tmp_path / "key").chmod(0o644)
    refused = wiesel(*arguments)
    assert refused.exit_code == 1 and "mode 0644" in refused.output


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to another user")
def test_a_key_of_another_user_is_none(tmp_path: Path, registry: Path) -> None:
    signed_savepoint(tmp_path / "a", 1)
    os.chown(registry / "snapshots.key", 65534, 65534)
    assert snapshot_key() is None


def test_a_state_file_of_signed_metadata_cannot_be_replaced(tmp_path: Path) -> None:
    path = signed_savepoint(tmp_path / "a", "x" * 100_000)
    arguments = ("state", "read", str(path), "--uid", "total")
    assert wiesel(*arguments).exit_code == 0
    (file,) = (p for p in path.iterdir() if p.name != "_metadata" and b"xxxx" in p.read_bytes())
    # The attacker's file has the size and the checksum that the metadata names: the last four bytes make up for all others.
    wanted, size = zlib.crc32(file.read_bytes()), file.stat().st_size
    other = file.read_bytes().replace(b"xxxx", b"yyyy", 1)
    file.write_bytes(with_checksum(other[: size - 4], wanted))
    assert (zlib.crc32(file.read_bytes()), file.stat().st_size) == (wanted, size)
    refused = wiesel(*arguments)
    assert refused.exit_code == 1 and "is not the one that was signed" in refused.output


def with_checksum(data: bytes, wanted: int) -> bytes:
    """Return data and four bytes behind it that give this CRC-32: checksums keep out accidents, not attackers."""
    table = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ (0xEDB88320 if number & 1 else 0)
        table.append(number)
    by_top = {entry >> 24: index for index, entry in enumerate(table)}
    after = wanted ^ 0xFFFFFFFF
    for _ in range(4):
        index = by_top[after >> 24]
        after = ((after ^ table[index]) << 8 & 0xFFFFFFFF) | index
    return data + (after ^ zlib.crc32(data) ^ 0xFFFFFFFF).to_bytes(4, "little")


def test_any_change_of_signed_metadata_is_noticed(tmp_path: Path) -> None:
    path = signed_savepoint(tmp_path / "a", 1)
    data, key = (path / "_metadata").read_bytes(), snapshot_key()
    assert key is not None
    decode_metadata(data, "here", key)
    body = json.loads(data.partition(b"\n")[2])
    for change in ({"id": 77}, {"enumerators": {}}, {"job": {}}, {"signature": ""}, {"more": 1}):
        text = json.dumps(body | change, separators=(",", ":"), sort_keys=True).encode()
        changed = b"WIESEL-CHECKPOINT 1 %08x %d\n" % (zlib.crc32(text), len(text)) + text
        decode_metadata(changed, "here")
        with pytest.raises(UntrustedSnapshotError, match="here is not signed"):
            decode_metadata(changed, "here", key)


def test_files_of_older_versions_have_no_digest_and_are_not_taken_for_signed(tmp_path: Path) -> None:
    path = signed_savepoint(tmp_path / "a", "x" * 100_000)
    checkpoint, job = decode_metadata((path / "_metadata").read_bytes(), "here")
    bare = with_files(checkpoint, lambda file: replace(file, sha256=None))
    with pytest.raises(UntrustedSnapshotError, match="a file of an older version"):
        decode_metadata(encode_metadata(bare, job, KEY), "here", KEY)


@pytest.mark.parametrize("body", [b"[]", b"{}", b'{"tasks": 3}', b'{"tasks": [{}]}', b"nonsense"])
def test_metadata_with_a_right_checksum_and_wrong_contents_is_refused(body: bytes) -> None:
    data = b"WIESEL-CHECKPOINT 1 %08x %d\n" % (zlib.crc32(body), len(body)) + body
    with pytest.raises(CorruptCheckpointError, match="is not the metadata of a checkpoint"):
        decode_metadata(data, "forged")


@pytest.mark.parametrize("name", ["{job}/shared/../../../victim/file", "{job}/../../victim/file", "../victim/file"])
def test_files_elsewhere_that_forged_metadata_names_are_not_deleted(tmp_path: Path, name: str) -> None:
    victim = tmp_path / "victim" / "file"
    victim.parent.mkdir()
    victim.write_text("precious")
    job, _ = totals(numbers := ManualSource(), tmp_path / "checkpoints")
    with job:
        numbers.push(("a", 1))
        job.settle()
        path = Path(job.store())
        name = name.format(job=job.master.job_id)
    checkpoint, facts = decode_metadata((path / "_metadata").read_bytes(), "here")
    file = StateFile(name, 8, 0)

    def with_victim(state: OperatorStateSnapshot) -> OperatorStateSnapshot:
        return state if state.state is None else replace(state, state=replace(state.state, files=(*state.state.files, file)))

    tasks = {
        task: replace(snapshot, operators={n: with_victim(state) for n, state in snapshot.operators.items()})
        for task, snapshot in checkpoint.tasks.items()
    }
    (path / "_metadata").write_bytes(encode_metadata(replace(checkpoint, tasks=tasks), facts))
    wiesel("savepoint", "dispose", "--force", str(path))
    assert not path.exists()
    assert victim.read_text() == "precious"


def test_a_state_file_outside_of_the_directory_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    with pytest.raises(CorruptCheckpointError, match="is not a path below"):
        StateFiles(str(tmp_path / "checkpoints"), "job", "read").read(StateFile("job/../../secret", 6, 0))
