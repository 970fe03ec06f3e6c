"""A process of another user that knows no secret and takes what a job's exchange gives it.

It asks each port that it reads from standard input for the channels of all readers, as Spark's own readers do. It prints ``taken`` when the
first bytes come, and at the end of its input how many bytes each channel has given. Started by root, it is user nobody.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import struct
from typing import Any

NOBODY = 65534
READERS = 2
_CREDIT, _ONE_WAY = 2, 9


def credit(reader: int) -> bytes:
    """Return the message by which Spark's server takes a connection for that of a reader: CreditControlMessage in a OneWayMessage."""
    body = struct.pack(">iqiii", _CREDIT, 0, 0, reader, 1)
    return struct.pack(">qbi", 13 + len(body), _ONE_WAY, len(body)) + body


def claim(port: int) -> list[socket.socket]:
    """Return a connection for each channel of a server."""
    claimed = []
    with contextlib.suppress(OSError):
        for reader in range(READERS):
            # By the system's call alone: nobody may not read the modules of an interpreter in root's home.
            connection = socket.socket()
            connection.connect(("127.0.0.1", port))
            claimed.append(connection)
            connection.sendall(credit(reader))
    return claimed


def main() -> None:
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    given: dict[Any, int] = {}
    taken: list[int] = []
    while True:
        ready, _, _ = select.select([0, *given], [], [])
        for source in ready:
            if source != 0:
                with contextlib.suppress(OSError):
                    if data := source.recv(1 << 20):
                        if not any(taken) and not any(given.values()):
                            print("taken", flush=True)
                        given[source] += len(data)
                        continue
                taken.append(given.pop(source))
            elif data := os.read(0, 1 << 16):
                for port in data.split():  # a line is written at once
                    given.update(dict.fromkeys(claim(int(port)), 0))
            else:
                print(json.dumps([*taken, *given.values()]), flush=True)
                return


if __name__ == "__main__":
    main()
