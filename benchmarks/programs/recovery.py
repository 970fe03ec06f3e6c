"""Time from SIGKILL to the first result that was not there before: of a Python worker, some times, and of the driver with all it started.

Runs ``recovery_job.py`` as a process of its own, with the engine that this program was started with.
"""

import argparse
import contextlib
import importlib.util
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

JOB = Path(__file__).with_name("recovery_job.py")
PATIENCE_S = 180
CONF = {
    "execution.checkpointing.interval": "1s",
    "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.attempts": "100",
    "restart-strategy.fixed-delay.delay": "100ms",
}


class Driver:
    """The job's driver in a process group of its own."""

    def __init__(self, options, told, conf, log, *more):
        if importlib.util.find_spec("wiesel"):
            command = [sys.executable, "-c", "from wiesel.platform.cli import main; main(prog_name='wiesel')", "run"]
            command += [word for key, value in conf.items() for word in ("-D", f"{key}={value}")]
            command += [str(JOB)]
        else:
            command = [sys.executable, str(JOB)] + [word for key, value in conf.items() for word in ("--conf", f"{key}={value}")]
        # Enough for five minutes: PyFlink makes all of them ahead, which takes its time at each start.
        command += ["--told", str(told), "--rate", str(options.rate), "--records", str(300 * options.rate)]
        command += ["--keys", str(options.keys), *more]
        # Else PyFlink, on one machine, runs the functions in the driver's own process: then there is no worker to kill.
        env = {**os.environ, "_python_worker_execution_mode": "process"}
        self.process = subprocess.Popen(command, stdout=log, stderr=log, env=env, start_new_session=True)

    def kill(self):
        """Kill it with all that is still in its group (the JVM), and return the time before the first signal."""
        at_ns = time.time_ns()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        return at_ns


class Told:
    """What the job has told so far."""

    def __init__(self, folder, keys):
        self._folder = folder
        self._keys = keys
        self._read = {}
        self.lines = []

    def update(self):
        """Read new lines, hold counts against numbers, and return all lines in order of time.

        A line is (time in ns, number, process, when that subtask was opened in ns).
        """
        for path in self._folder.glob("*.txt"):
            data, opened_ns = path.read_bytes(), int(path.stem.rpartition("-")[2])
            end = data.rfind(b"\n") + 1
            for line in data[self._read.get(path, 0) : end].splitlines():
                number, count, at_ns, process = map(int, line.split())
                if count != number // self._keys + 1:
                    raise SystemExit(f"number {number} has count {count}: records were lost or counted twice")
                self.lines.append((at_ns, number, process, opened_ns))
            self._read[path] = end
        self.lines.sort()
        return self.lines

    def first_beyond(self, killed_ns, driver):
        """Return the times in ns from a kill to the first result of the next attempt, and to the first that nobody had seen."""
        before = max(number for at_ns, number, _, _ in self.update() if at_ns <= killed_ns)
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            if driver.process.poll() is not None:
                raise SystemExit(f"the driver ended with {driver.process.returncode}")
            again = [(at_ns, number) for at_ns, number, _, opened_ns in self.update() if opened_ns > killed_ns]
            new = [at_ns for at_ns, number in again if number > before]
            if new:
                return again[0][0] - killed_ns, new[0] - killed_ns
            time.sleep(0.02)
        raise SystemExit("no new result came after a kill")


def newest(checkpoints):
    """Return the newest complete checkpoint."""
    found = [path for path in checkpoints.glob("*/chk-*") if (path / "_metadata").exists()]
    return max(found, key=lambda path: int(path.name.removeprefix("chk-")), default=None)


def settle(told, checkpoints, driver, until_number=0):
    """Wait until results have come up to some number and two further checkpoints are complete."""
    deadline = time.monotonic() + PATIENCE_S
    first = None
    while time.monotonic() < deadline:
        if driver.process.poll() is not None:
            raise SystemExit(f"the driver ended with {driver.process.returncode}")
        last = newest(checkpoints)
        if last is not None and max((number for _, number, _, _ in told.update()), default=-1) >= until_number:
            number = int(last.name.removeprefix("chk-"))
            first = number if first is None else first
            if number >= first + 2:
                return
        time.sleep(0.1)
    raise SystemExit("the job took no checkpoints")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--rate", type=int, default=20_000)
    parser.add_argument("--keys", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=5, help="of a worker; one of the driver follows")
    parser.add_argument("--conf", action="append", default=[], metavar="KEY=VALUE")
    options = parser.parse_args()
    folder = Path(options.folder)
    told_folder, checkpoints = folder / "told", folder / "checkpoints"
    told_folder.mkdir()
    conf = {**CONF, "execution.checkpointing.dir": checkpoints.as_uri(), **dict(entry.split("=", 1) for entry in options.conf)}
    told = Told(told_folder, options.keys)
    workers = []
    with (folder / "driver.log").open("wb") as log:
        driver = Driver(options, told_folder, conf, log)
        try:
            for i in range(options.kills):
                settle(told, checkpoints, driver)
                # Anywhere between two checkpoints.
                time.sleep(i / options.kills)
                victim = told.update()[-1][2]
                killed_ns = time.time_ns()
                os.kill(victim, signal.SIGKILL)
                workers.append(told.first_beyond(killed_ns, driver))
            settle(told, checkpoints, driver)
            killed_ns = driver.kill()
            driver = Driver(options, told_folder, {**conf, "execution.state-recovery.path": newest(checkpoints).as_uri()}, log)
            lost_driver = told.first_beyond(killed_ns, driver)
        except SystemExit:
            sys.stderr.write((folder / "driver.log").read_text(errors="replace")[-3000:])
            raise
        finally:
            driver.kill()
    seconds = [round(new / 1e9, 2) for _, new in workers]
    print(
        json.dumps(
            {
                "workers_killed": len(workers),
                "worker_s": statistics.median(seconds),
                "worker_worst_s": max(seconds),
                "worker_first_s": round(statistics.median(first for first, _ in workers) / 1e9, 2),
                "driver_s": round(lost_driver[1] / 1e9, 2),
            }
        ),
        flush=True,
    )


if __name__ == "__main__":
    main()
