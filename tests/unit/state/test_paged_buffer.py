"""Memory that files are put together in, against bytes."""

from __future__ import annotations

import random

from wiesel.state.paged_buffer import PagedBuffer


def test_it_grows_and_keeps_what_is_in_it() -> None:
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    rng = random.Random(seed)
    buffer, expected = PagedBuffer(), bytearray()
    while len(expected) < 70 << 20:
        data = rng.randbytes(rng.choice([0, 1, 100, 65_536, 5 << 20]))
        buffer.write(data)
        expected += data
        if rng.random() < 0.1:  # a gap that is filled in later
            at = buffer.tell()
            buffer.seek(at + 10)
            buffer.write(b"behind")
            buffer.seek(at)
            buffer.write(b"0123456789")
            buffer.seek(at + 16)
            expected += b"0123456789behind"
    assert buffer.tell() == len(expected)
    with buffer.view(0, len(expected)) as whole:
        assert whole == expected
    buffer.seek(0)
    buffer.write(b"again")
    with buffer.view(0, buffer.tell()) as whole:
        assert whole == b"again"
