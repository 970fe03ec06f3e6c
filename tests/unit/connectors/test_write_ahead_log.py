"""The write-ahead log alone: any positions, torn ends, damage, files that are gone."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from wiesel.connectors.write_ahead_log import BEGINNING, LogPosition, WriteAheadLog
from wiesel.core.errors import ConnectorError


def records(log: WriteAheadLog, position: LogPosition = BEGINNING) -> list[int]:
    return [number for _, frame in log.after(position) for number in frame]


def test_what_was_written_is_read_behind_each_position(tmp_path: Path) -> None:
    written, positions = 0, [(BEGINNING, 0)]
    for _ in range(3):
        log = WriteAheadLog(str(tmp_path / "log"), file_bytes=100)
        for count in (1, 5, 3, 40, 2):
            positions.append((log.append(list(range(written, written + count))), written + count))
            written += count
        log.close()
    log = WriteAheadLog(str(tmp_path / "log"))
    assert len(list((tmp_path / "log").iterdir())) > 3
    for position, first in positions:
        assert records(log, position) == list(range(first, written))
    assert [position for position, _ in log.after(BEGINNING)] == [position for position, _ in positions[1:]]


def test_a_torn_end_is_left_out_wherever_it_is_torn(tmp_path: Path) -> None:
    log = WriteAheadLog(str(tmp_path))
    whole = log.append([1, 2])
    log.append([3])
    log.close()
    (path,) = tmp_path.iterdir()
    data = path.read_bytes()
    for length in range(whole.offset, len(data)):
        path.write_bytes(data[:length])
        again = WriteAheadLog(str(tmp_path))
        assert records(again) == [1, 2]
        again.append([4])
        again.close()
        assert records(again) == [1, 2, 4], "the next one has a file of its own"
        max(tmp_path.iterdir()).unlink()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert records(WriteAheadLog(str(tmp_path))) == [1, 2]


def test_damage_in_the_midst_is_an_error(tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(1 << 30)
    print(f"seed {seed}")
    log = WriteAheadLog(str(tmp_path))
    first = log.append(list(range(100)))
    log.append([1])
    log.close()
    (path,) = tmp_path.iterdir()
    data = bytearray(path.read_bytes())
    data[random.Random(seed).randrange(8, first.offset)] ^= 1
    path.write_bytes(data)
    with pytest.raises(ConnectorError, match="is damaged at byte 0"):
        records(log)


def test_what_was_pruned_cannot_be_read(tmp_path: Path) -> None:
    log = WriteAheadLog(str(tmp_path), file_bytes=1)
    positions = [log.append([number]) for number in range(5)]
    log.close()
    log.prune(positions[2])
    assert records(log, positions[2]) == [3, 4] and records(log, positions[3]) == [4]
    assert records(log) == [2, 3, 4]
    with pytest.raises(ConnectorError, match=r"does not reach back to byte \d+ of 0000000002.log"):
        records(log, positions[1])
    with pytest.raises(ConnectorError, match="does not reach back"):
        records(log, LogPosition(positions[4].file, positions[4].offset + 1))
