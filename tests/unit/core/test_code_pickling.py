"""Classes of the user's script travel as a whole, structs with their fields, defaults and options."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from types import CodeType

from wiesel.core.code_pickling import dumps

SCRIPT = '''
import sys
from typing import ClassVar

import msgspec

from wiesel.core.code_pickling import dumps


class Base(msgspec.Struct, kw_only=True, frozen=True, tag="event", rename="camel"):
    first_id: int
    tags: list = msgspec.field(default_factory=list, name="labels")
    STEP: ClassVar[int] = 7


class Event(Base, frozen=True):
    count: int = 3

    def __post_init__(self):
        if self.count < 0:
            raise ValueError("negative")

    def more(self):
        return Event(self.count + self.STEP, first_id=self.first_id)

    @property
    def shown(self):
        return super().__repr__()


def make(count):
    return Event(count, first_id=1)


if __name__ == "__main__":
    sys.stdout.buffer.write(dumps((make, Event, dumps(make))))
'''
READ = """
import pickle, sys
import msgspec

make, event, again = pickle.load(sys.stdin.buffer)
made = make(5)
assert type(made) is event and type(pickle.loads(again)(5)) is event
assert made.shown == "Event(count=5, first_id=1, tags=[])" and made.more().count == 12
assert msgspec.json.encode(made) == b'{"type":"event","count":5,"firstId":1,"labels":[]}'
assert msgspec.json.decode(b'{"type":"event","firstId":4,"labels":[1]}', type=event) == event(first_id=4, tags=[1])
assert made.tags is not make(5).tags and event.__struct_config__.frozen and hash(event(first_id=2, tags=()))
for refused in (lambda: make(-1), lambda: event(1, 2), lambda: setattr(made, "count", 4)):
    try:
        refused()
    except (ValueError, TypeError, AttributeError):
        continue
    raise AssertionError("not refused")
"""


def test_structs_of_the_script_arrive_with_their_fields_and_options(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    shipped = subprocess.run([sys.executable, str(script)], capture_output=True, check=True).stdout
    read = subprocess.run([sys.executable, "-c", READ], input=shipped, capture_output=True, check=False)
    assert read.returncode == 0, read.stderr.decode()


def test_what_can_be_imported_travels_by_name() -> None:
    from wiesel.core.code_pickling import dumps

    assert pickle.loads(dumps(Path)) is Path and len(dumps(Path)) < 60


def test_code_keeps_the_name_of_its_file() -> None:
    def outer(n: int) -> int:
        return (lambda: n)()

    copy = pickle.loads(dumps(outer))
    inner = [part for part in copy.__code__.co_consts if isinstance(part, CodeType)]
    assert copy.__code__.co_filename == __file__ == inner[0].co_filename
    assert copy(3) == 3
