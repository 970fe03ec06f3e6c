"""Internal. The ``_metadata`` file of a checkpoint: JSON with a version and a checksum.

State files are referenced, small ones are inline. Values that belong to sources and sinks (positions, committables, writer state) are
pickled and encoded as base64, as only the connectors know their types. They stay pickled (``Packed``) when metadata is read, so that
inspecting a snapshot runs no code from it; ``unpacked`` is for jobs that start from it.
"""

from __future__ import annotations

import base64
import hmac
import json
import re
import zlib
from dataclasses import replace
from typing import Any

from wiesel.checkpoint.coordinator import Checkpoint
from wiesel.checkpoint.snapshot import CheckpointStats, OperatorStateSnapshot, Packed, TaskSnapshot
from wiesel.core import code_pickling
from wiesel.core.errors import CorruptCheckpointError, UntrustedSnapshotError
from wiesel.state.backend import StateFile, StateHandle

VERSION = 2
"""Version 2 added records in flight. Metadata without any is written as version 1, which older versions can read."""
_SIGNATURE = "signature"
_HEADER = re.compile(rb"WIESEL-CHECKPOINT ([1-9][0-9]*) ([0-9a-f]{8}) ([0-9]+)")


def _pack(value: Any) -> str | None:
    if value is None:
        return None
    return base64.b64encode(value.data if isinstance(value, Packed) else code_pickling.dumps(value)).decode()


def _packed(text: str | None) -> Any:
    return None if text is None else Packed(base64.b64decode(text))


def _file_out(file: StateFile) -> dict[str, Any]:
    inline = None if file.inline is None else base64.b64encode(file.inline).decode()
    digest = {} if file.sha256 is None else {"sha256": file.sha256}
    return {"name": file.name, "size": file.size, "crc32": file.crc32, "inline": inline, **digest}


def _file_in(data: dict[str, Any]) -> StateFile:
    inline = None if data["inline"] is None else base64.b64decode(data["inline"])
    return StateFile(data["name"], data["size"], data["crc32"], inline, data.get("sha256"))


def _handle_out(handle: StateHandle | None) -> dict[str, Any] | None:
    if handle is None:
        return None
    return {
        "files": [_file_out(f) for f in handle.files],
        "keyGroups": [handle.key_group_start, handle.key_group_end],
        "meta": handle.meta,
    }


def _handle_in(data: dict[str, Any] | None) -> StateHandle | None:
    if data is None:
        return None
    start, end = data["keyGroups"]
    return StateHandle(tuple(_file_in(f) for f in data["files"]), start, end, data["meta"])


def _operator_out(state: OperatorStateSnapshot) -> dict[str, Any]:
    more: dict[str, Any] = {} if state.in_flight is None else {"inFlight": _handle_out(state.in_flight)}
    if state.committable_counts:
        # Versions that do not know it commit all of them at once, in the same order.
        more["committableCounts"] = [list(each) for each in state.committable_counts]
    return {
        **more,
        "state": _handle_out(state.state),
        "splits": _pack(state.reader_splits),
        "writer": _pack(state.writer_state),
        "committables": _pack(state.committables or None),
    }


def _operator_in(data: dict[str, Any]) -> OperatorStateSnapshot:
    return OperatorStateSnapshot(
        _handle_in(data["state"]),
        _packed(data["splits"]),
        _packed(data["writer"]),
        _packed(data["committables"]) or [],
        _handle_in(data.get("inFlight")),
        tuple((checkpoint_id, count) for checkpoint_id, count in data.get("committableCounts", ())),
    )


def encode_metadata(checkpoint: Checkpoint, job: dict[str, Any], key: bytes | None = None) -> bytes:
    """Return the bytes of the metadata file.

    Args:
        checkpoint: The checkpoint.
        job: JSON-able information on the job: id, name, and per vertex its operators (id, name, uid), parallelism and maximum parallelism.
        key: Key to sign with; None for no signature.
    """
    in_flight = any(o.in_flight is not None for t in checkpoint.tasks.values() for o in t.operators.values())
    version = VERSION if in_flight else 1
    body = {
        "version": version,
        "id": checkpoint.checkpoint_id,
        "attempt": checkpoint.attempt,
        "timestamp": checkpoint.timestamp_ms,
        "savepoint": checkpoint.savepoint,
        "final": checkpoint.final,
        "job": job,
        "finished": sorted(list(t) for t in checkpoint.finished),
        "enumerators": {k: _pack(v) for k, v in checkpoint.enumerators.items()},
        "tasks": [
            {
                "task": list(task),
                "stats": vars_of(snapshot.stats),
                "operators": {k: _operator_out(v) for k, v in snapshot.operators.items()},
            }
            for task, snapshot in checkpoint.tasks.items()
        ],
    }
    if key is not None:
        body[_SIGNATURE] = _signature(body, key)
    text = _text(body)
    return b"WIESEL-CHECKPOINT %d %08x %d\n" % (version, zlib.crc32(text), len(text)) + text


def _text(body: dict[str, Any]) -> bytes:
    return json.dumps(body, separators=(",", ":"), sort_keys=True).encode()


def _signature(body: dict[str, Any], key: bytes) -> str:
    """Return the HMAC of all but the signature itself; state files are covered by their digests."""
    return hmac.new(key, _text({name: value for name, value in body.items() if name != _SIGNATURE}), "sha256").hexdigest()


def _require_signed(body: dict[str, Any], checkpoint: Checkpoint, key: bytes, where: str) -> None:
    hint = "pass --trust only if you trust its author, as reading state runs pickled code"
    if not hmac.compare_digest(str(body.get(_SIGNATURE, "")), _signature(body, key)):
        raise UntrustedSnapshotError(f"{where} is not signed with the key of this user's jobs", hint=hint)
    handles = (handle for task in checkpoint.tasks.values() for part in task.operators.values() for handle in (part.state, part.in_flight))
    for file in (file for handle in handles if handle is not None for file in handle.files):
        if file.inline is None and file.sha256 is None:
            raise UntrustedSnapshotError(f"{where} names a file of an older version, which is not signed: {file.name}", hint=hint)


def vars_of(stats: CheckpointStats) -> dict[str, Any]:
    """Return the statistics as a dict."""
    return {name: getattr(stats, name) for name in CheckpointStats.__dataclass_fields__}


def decode_metadata(data: bytes, where: str, key: bytes | None = None) -> tuple[Checkpoint, dict[str, Any]]:
    """Read a metadata file: the checkpoint, with values still pickled, and the information on the job.

    Args:
        data: Its contents.
        where: Its name in errors.
        key: The key that must have signed it, with its files by their digests; None for no check.

    Raises:
        CorruptCheckpointError: If the file is incomplete or altered, or of an unsupported version.
        UntrustedSnapshotError: If it is not signed with the key.
    """
    line, _, text = data.partition(b"\n")
    header = _HEADER.fullmatch(line)
    if header is None:
        raise CorruptCheckpointError(f"{where} is not the metadata of a checkpoint", hint="restore an older checkpoint")
    version, checksum, size = int(header[1]), int(header[2], 16), int(header[3])
    if version > VERSION:
        raise CorruptCheckpointError(f"{where} has format version {version}; this Wiesel reads up to {VERSION}", hint="upgrade Wiesel")
    if size != len(text) or checksum != zlib.crc32(text):
        raise CorruptCheckpointError(f"{where} is incomplete or altered: its checksum does not match", hint="restore an older checkpoint")
    try:
        body = json.loads(text)
        checkpoint, job = _decoded(body)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        # The checksum detects accidental damage only.
        message = f"{where} is not the metadata of a checkpoint: {error!r}"
        raise CorruptCheckpointError(message, hint="restore an older checkpoint") from error
    if key is not None:
        _require_signed(body, checkpoint, key, where)
    return checkpoint, job


def _decoded(body: dict[str, Any]) -> tuple[Checkpoint, dict[str, Any]]:
    tasks = {
        (t["task"][0], t["task"][1]): TaskSnapshot(
            {k: _operator_in(v) for k, v in t["operators"].items()}, CheckpointStats(**t["stats"])
        )
        for t in body["tasks"]
    }
    checkpoint = Checkpoint(
        body["id"],
        body["attempt"],
        body["timestamp"],
        tasks,
        {k: _packed(v) for k, v in body["enumerators"].items()},
        frozenset((t[0], t[1]) for t in body["finished"]),
        body["savepoint"],
        body["final"],
    )
    return checkpoint, body["job"]


def copied(checkpoint: Checkpoint) -> Checkpoint:
    """Return a deep copy of the checkpoint, as if it were written and read."""
    return unpacked(decode_metadata(encode_metadata(checkpoint, {}), "the copy of a checkpoint")[0])


def unpacked(checkpoint: Checkpoint) -> Checkpoint:
    """Return a checkpoint with the values of sources and sinks unpickled, for a job that starts from it.

    Raises:
        StateMigrationError: A class that a value needs is missing or has changed.
    """

    def value(stored: Any) -> Any:
        return stored.unpacked() if isinstance(stored, Packed) else stored

    def part(state: OperatorStateSnapshot) -> OperatorStateSnapshot:
        return replace(
            state,
            reader_splits=value(state.reader_splits),
            writer_state=value(state.writer_state),
            committables=value(state.committables),
        )

    tasks = {
        task: replace(snapshot, operators={name: part(state) for name, state in snapshot.operators.items()})
        for task, snapshot in checkpoint.tasks.items()
    }
    return replace(checkpoint, tasks=tasks, enumerators={name: value(state) for name, state in checkpoint.enumerators.items()})
