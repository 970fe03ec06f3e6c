"""Plays a driver of the demo with two tasks, each a process of its own, that replays ten days.

It looks at its "job" in steps of a quarter of a day, has a new checkpoint with each, and begins a new attempt when a task has died.
``PLAY`` in the environment says how it misbehaves: it ``repeats`` output, ``forgets`` its checkpoints, ``ignores`` that a task died, or
``gives up``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

FIRST_DAY_MS, DAY_MS = 1_357_016_400_000, 86_400_000
PLAY = os.environ.get("PLAY", "")
LIVES_AS_LONG_AS_ITS_PARENT = "import sys; sys.stdin.read()"


class Driver:
    def __init__(self, arguments: dict[str, str]) -> None:
        self.output = Path(arguments["--output"])
        self.slow = "--speed-up" in arguments
        self.saved = Path(arguments.get("--restore", str(self.output / "checkpoints" / "job"))) / "saved"
        self.saved.parent.mkdir(parents=True, exist_ok=True)
        self.attempt, self.quarters, self.last = json.loads(self.saved.read_text()) if "--restore" in arguments else (0, 0, 0)
        self.restarts = -1
        self.tasks: list[subprocess.Popen[bytes]] = []
        self.begin()

    def begin(self) -> None:
        command = [sys.executable, "-c", LIVES_AS_LONG_AS_ITS_PARENT]
        self.tasks = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) for _ in range(2)]
        self.attempt, self.restarts, self.restored = self.attempt + 1, self.restarts + 1, self.last

    def end(self) -> None:
        for task in self.tasks:
            task.kill()
            task.wait()

    def run(self) -> None:
        while self.quarters < 40:
            time.sleep(0.05 if self.slow else 0)
            if PLAY != "ignores" and any(task.poll() is not None for task in self.tasks):
                self.end()
                if PLAY == "gives up":
                    sys.exit(1)
                self.last = 0 if PLAY == "forgets" else self.last
                self.begin()
            self.quarters, self.last = self.quarters + 1, self.last + 1
            self.saved.write_text(json.dumps([self.attempt, self.quarters, self.last]))
            print(json.dumps(self.look()), flush=True)
        for name in ("hours", "build_ups", "late"):
            (self.output / name).mkdir(parents=True, exist_ok=True)
            (self.output / name / "part").write_text("x\n" * (3 if self.slow and PLAY == "repeats" else 2))
        self.end()

    def look(self) -> dict[str, object]:
        values = {"currentOutputWatermark": FIRST_DAY_MS + self.quarters * DAY_MS // 4, "currentInputWatermark": FIRST_DAY_MS}
        sizes = dict.fromkeys(("last_duration_ms", "last_written_bytes", "last_state_bytes", "completed", "failed"), 1)
        return {
            "job_id": "job",
            "status": "RUNNING",
            "attempt": self.attempt,
            "restarts": self.restarts,
            "checkpoints": {"restored_id": self.restored, "last_id": self.last, **sizes},
            "tasks": [
                {"name": name, "vertex": i, "subtask": 0, "source": i == 0, "pid": task.pid, "metrics": values}
                for i, (name, task) in enumerate(zip(("Source: flights", "windows"), self.tasks, strict=True))
            ],
        }


if __name__ == "__main__":
    Driver(dict(zip(sys.argv[2::2], sys.argv[3::2], strict=False))).run()
