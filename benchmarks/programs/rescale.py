"""Time to the first result that was not there before: after SIGKILL of a worker, and after a request to go from 2 to 4 and to 1.

Runs ``recovery_job.py`` with much state as a process of its own. Wiesel is asked by ``wiesel rescale``, Flink, with its adaptive
scheduler, by the REST path for resource requirements.
"""

import argparse
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import Request, urlopen

from recovery import CONF, PATIENCE_S, Driver, Told, newest, settle


class OnWiesel:
    """A job that ``wiesel rescale`` finds in a registry of its own."""

    def __init__(self, folder):
        self.conf = {"wiesel.spark.master": "local[12]"}
        self._checkpoints = folder / "checkpoints"
        os.environ["WIESEL_REGISTRY_DIR"] = str(folder / "registry")

    def rescale(self, parallelism):
        """Have the job go on with another parallelism; return when it was asked for (ns), which is when the command's Python was up."""
        job = newest(self._checkpoints).parent.name
        code = (
            "import sys, time; from wiesel.platform.cli import main; print(time.time_ns(), flush=True); "
            f"main(['rescale', '{job}', '{parallelism}'], prog_name='wiesel')"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=PATIENCE_S)
        if done.returncode:
            raise SystemExit(f"wiesel rescale failed: {done.stdout}{done.stderr}")
        return int(done.stdout.split()[0])


class OnFlink:
    """A job of a local cluster with the adaptive scheduler, which waits for nothing before it rescales."""

    def __init__(self, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self._url = f"http://127.0.0.1:{port}/jobs"
        self._vertices = None
        waits = ("executing.cooldown-after-rescaling", "executing.resource-stabilization-timeout", "rescale-trigger.max-delay")
        self.conf = {
            "rest.port": port,
            "rest.bind-port": port,
            "taskmanager.numberOfTaskSlots": 12,
            "jobmanager.scheduler": "Adaptive",
            "jobmanager.adaptive-scheduler.submission.resource-stabilization-timeout": "0s",
            **{f"jobmanager.adaptive-scheduler.{wait}": "0s" for wait in waits},
        }

    def _ask(self, path, body=None):
        data, method = (None, "GET") if body is None else (json.dumps(body).encode(), "PUT")
        request = Request(self._url + path, data, {"Content-Type": "application/json"}, method=method)
        with urlopen(request, timeout=PATIENCE_S) as answer:
            return json.load(answer)

    def rescale(self, parallelism):
        """Have the job go on with another parallelism; return when it was asked for (ns)."""
        path = f"/{self._ask('')['jobs'][0]['id']}/resource-requirements"
        if self._vertices is None:
            # The source has one subtask always.
            self._vertices = [vertex for vertex, wanted in self._ask(path).items() if wanted["parallelism"]["upperBound"] > 1]
        wanted = self._ask(path)
        for vertex in self._vertices:
            wanted[vertex]["parallelism"]["upperBound"] = parallelism
        begun_ns = time.time_ns()
        self._ask(path, wanted)
        return begun_ns


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--rate", type=int, default=20_000)
    parser.add_argument("--keys", type=int, default=500_000)
    parser.add_argument("--value-bytes", type=int, default=2_000)
    parser.add_argument("--every", type=int, default=101, help="numbers between two that are told")
    parser.add_argument("--backend", default="hashmap")
    parser.add_argument("--conf", action="append", default=[], metavar="KEY=VALUE")
    options = parser.parse_args()
    folder = Path(options.folder)
    told_folder, checkpoints = folder / "told", folder / "checkpoints"
    told_folder.mkdir()
    engine = (OnWiesel if importlib.util.find_spec("wiesel") else OnFlink)(folder)
    conf = {**CONF, **engine.conf, "execution.checkpointing.dir": checkpoints.as_uri(), "state.backend.type": options.backend}
    conf.update(entry.split("=", 1) for entry in options.conf)
    told = Told(told_folder, options.keys)
    took = []
    with (folder / "driver.log").open("wb") as log:
        more = ("--value-bytes", str(options.value_bytes), "--every", str(options.every))
        driver = Driver(options, told_folder, conf, log, *more)
        try:
            settle(told, checkpoints, driver, until_number=options.keys)
            victim = told.update()[-1][2]
            begun_ns = time.time_ns()
            os.kill(victim, signal.SIGKILL)
            took.append(told.first_beyond(begun_ns, driver)[1])
            for parallelism in (4, 1):
                settle(told, checkpoints, driver)
                begun_ns = engine.rescale(parallelism)
                took.append(told.first_beyond(begun_ns, driver)[1])
            settle(told, checkpoints, driver)
            subtasks = len({opened_ns for at_ns, _, _, opened_ns in told.update() if at_ns > begun_ns + took[-1]})
        except SystemExit:
            sys.stderr.write((folder / "driver.log").read_text(errors="replace")[-3000:])
            raise
        finally:
            driver.kill()
    restart_s, up_s, down_s = (round(ns / 1e9, 2) for ns in took)
    print(
        json.dumps(
            {
                "parallelism": subtasks,
                "restart_s": restart_s,
                "up_s": up_s,
                "down_s": down_s,
                "up_beyond_s": round(up_s - restart_s, 2),
                "down_beyond_s": round(down_s - restart_s, 2),
            }
        ),
        flush=True,
    )


if __name__ == "__main__":
    main()
