"""A job with little or nothing to do: the CPU time, threads, file descriptors and memory of its processes.

The job is cancelled after ``--seconds``. Only Wiesel runs it.
"""

import json
import os
import time
from collections import Counter
from pathlib import Path

import metering
from paced_source import paced
from pyflink.common import Types

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PER_DAY = 1 / 86_400


class Usage:
    """What this process and those below it use of the machine, read from ``/proc``."""

    def __init__(self):
        self.pids = self._tree()
        self.roles = {pid: role for pid in self.pids if (role := self._role(pid))}

    @staticmethod
    def _tree():
        above = {}
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    above[int(entry)] = int(Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[1])
                except (FileNotFoundError, ProcessLookupError):
                    continue
        tree = {os.getpid()}
        while more := {pid for pid, parent in above.items() if parent in tree} - tree:
            tree |= more
        return tree

    @staticmethod
    def _role(pid):
        """Return which kind of process this is, None if it has ended."""
        if pid == os.getpid():
            return "driver"
        try:
            name = Path(f"/proc/{pid}/comm").read_text().strip()
            return "jvm" if name == "java" else "workers"
        except (FileNotFoundError, ProcessLookupError):
            return None

    @staticmethod
    def _ticks(stat):
        fields = stat.rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    def cpu_s(self):
        """Return the CPU time of each kind of process until now, and of each thread of the JVM by the beginning of its name."""
        used, threads = Counter(), Counter()
        for pid, role in self.roles.items():
            for stat in Path(f"/proc/{pid}/task").glob("*/stat"):
                try:
                    text = stat.read_text()
                except (FileNotFoundError, ProcessLookupError):
                    continue
                seconds = self._ticks(text) / TICKS_PER_S
                used[role] += seconds
                threads[role, text.partition("(")[2].rpartition(")")[0].rstrip("0123456789-# ")] += seconds
        return used, threads

    def held(self):
        """Return processes, threads, file descriptors, and memory in MB: resident, and with shared pages divided by their users."""
        found = Counter()
        kinds = Counter()
        for pid, role in self.roles.items():
            try:
                threads = len(os.listdir(f"/proc/{pid}/task"))
                descriptors = len(os.listdir(f"/proc/{pid}/fd"))
                memory = dict(line.split(":") for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:])
            except (FileNotFoundError, ProcessLookupError):
                continue
            rss_kb, pss_kb = (int(memory[name].split()[0]) for name in ("Rss", "Pss"))
            found["processes"] += 1
            for prefix in ("", f"{role}_"):
                found.update({f"{prefix}threads": threads, f"{prefix}fds": descriptors})
                found.update({f"{prefix}rss_kb": rss_kb, f"{prefix}pss_kb": pss_kb})
            for name in Path(f"/proc/{pid}/task").glob("*/comm"):
                kinds[role, name.read_text().strip().rstrip("0123456789-# ")] += 1
        figures = {name.replace("_kb", "_mb"): round(value / 1024) if name.endswith("_kb") else value for name, value in found.items()}
        return {**figures, "kinds": {f"{role} {name}": count for (role, name), count in kinds.most_common(14)}}


def measure(seconds):
    """Return the figures of some seconds."""
    usage = Usage()
    before, threads_before = usage.cpu_s()
    began = time.monotonic()
    time.sleep(seconds)
    after, threads_after = usage.cpu_s()
    passed_s = time.monotonic() - began
    share = {f"{role}_cpu_percent": round((after[role] - before[role]) / passed_s * 100, 2) for role in after}
    busiest = (threads_after - threads_before).most_common(12)
    return {
        "cpu_percent": round((after - before).total() / passed_s * 100, 2),
        **share,
        **usage.held(),
        "busiest": {f"{role} {name}": round(used_s / passed_s * 100, 2) for (role, name), used_s in busiest},
    }


def main():
    parser = metering.arguments(__doc__)
    parser.add_argument("--rate", type=float, default=0, help="records/s; 0 is none")
    parser.add_argument("--levels", type=int, default=3, help="how many tasks follow each other, each behind an exchange")
    parser.add_argument("--settle", type=float, default=20, help="how long to wait before, in s")
    parser.add_argument("--seconds", type=float, default=30, help="how long to measure")
    options = parser.parse_args()
    env = metering.environment(options)
    stream = paced(env, options.records, options.rate or PER_DAY)
    for _ in range(options.levels - 2):
        stream = stream.key_by(lambda record: record[0], key_type=Types.LONG()).map(
            lambda record: record, output_type=Types.TUPLE([Types.LONG(), Types.LONG()])
        )
    stream.key_by(lambda record: record[0], key_type=Types.LONG()).filter(metering.Meter(options.folder, options.records)).print()
    began = time.monotonic()
    client = env.execute_async("footprint")
    tasks = options.parallelism * options.levels
    while sum(bool(task["metrics"]) for task in client.get_job_metrics().result()["tasks"]) < tasks:
        time.sleep(0.1)
    running_s = time.monotonic() - began
    time.sleep(options.settle)
    result = {"tasks": tasks, "running_after_s": round(running_s, 1), **measure(options.seconds)}
    client.cancel().result()
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
