"""Time to the first result that was not there before: after SIGKILL of a worker, and after ``wiesel rescale`` from 2 to 4 and to 1.

Runs ``recovery_job.py`` with much state as a process of its own.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from recovery import CONF, PATIENCE_S, Driver, Told, newest, settle

SLOTS = {"wiesel.spark.master": "local[12]"}


def rescale(job, parallelism):
    """Have the job go on with another parallelism; return when it was asked for (ns), which is when the command's Python was up."""
    code = (
        "import sys, time; from wiesel.platform.cli import main; print(time.time_ns(), flush=True); "
        f"main(['rescale', '{job}', '{parallelism}'], prog_name='wiesel')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    if done.returncode:
        raise SystemExit(f"wiesel rescale failed: {done.stdout}{done.stderr}")
    return int(done.stdout.split()[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--rate", type=int, default=20_000)
    parser.add_argument("--keys", type=int, default=500_000)
    parser.add_argument("--value-bytes", type=int, default=2_000)
    parser.add_argument("--backend", default="hashmap")
    options = parser.parse_args()
    folder = Path(options.folder)
    told_folder, checkpoints = folder / "told", folder / "checkpoints"
    told_folder.mkdir()
    conf = {**CONF, **SLOTS, "execution.checkpointing.dir": checkpoints.as_uri(), "state.backend.type": options.backend}
    told = Told(told_folder, options.keys)
    os.environ["WIESEL_REGISTRY_DIR"] = str(folder / "registry")
    took = []
    with (folder / "driver.log").open("wb") as log:
        driver = Driver(options, told_folder, conf, log, "--value-bytes", str(options.value_bytes))
        try:
            settle(told, checkpoints, driver, until_number=options.keys)
            victim = told.update()[-1][2]
            begun_ns = time.time_ns()
            os.kill(victim, signal.SIGKILL)
            took.append(told.first_beyond(begun_ns, driver)[1])
            for parallelism in (4, 1):
                settle(told, checkpoints, driver)
                begun_ns = rescale(newest(checkpoints).parent.name, parallelism)
                took.append(told.first_beyond(begun_ns, driver)[1])
            settle(told, checkpoints, driver)
            subtasks = len({process for at_ns, _, process, _ in told.update() if at_ns > begun_ns + took[-1]})
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
