"""Runs one command and accounts for all it started: ``launch.py RESULT.json TIMEOUT_S -- command ...``.

This process adopts orphans (Linux's child subreaper), so that what JVMs, Beam's workers and Spark's daemons leave behind is waited for
here. Then the kernel's own sums over waited-for children hold the CPU time of all but PySpark's workers, for whom nobody waits; theirs
is sampled.
"""

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
SAMPLE_EVERY_S = 0.5
GRACE_S = 15
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def adopt_orphans():
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the kernel refuses to make this process a child subreaper")


def parents():
    """Return {pid: parent's pid} of all processes."""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                # The name in brackets may hold spaces and brackets itself.
                fields = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            found[int(entry)] = int(fields[1])
    return found


def descendants():
    """Return the pids of all processes below this one."""
    above, below = parents(), {os.getpid()}
    grew = True
    while grew:
        more = {pid for pid, parent in above.items() if parent in below and pid not in below}
        below |= more
        grew = bool(more)
    return below - {os.getpid()}


class Watch(threading.Thread):
    """Follows what the descendants take while they run.

    Memory: peaks of the sums over the Python and over the Java processes, in MB. Two sums each: all resident pages, and the anonymous
    ones alone (pages of mapped files, LMDB's for one, are the kernel's cache).

    CPU time: a series of (time in ns since the epoch, CPU seconds used so far by all, dead or alive), for the share of a part of a run.
    """

    def __init__(self):
        super().__init__(daemon=True)
        self.peaks = {}
        self.cpu = []
        self.stopped = threading.Event()

    def run(self):
        while not self.stopped.wait(SAMPLE_EVERY_S):
            sums, ticks = {}, 0
            pids = descendants()
            own = resource.getrusage(resource.RUSAGE_CHILDREN)
            for pid in pids:
                ticks += self._ticks(pid)
                for name, kilobytes in self._memory(pid):
                    sums[name] = sums.get(name, 0) + kilobytes
            self.cpu.append((time.time_ns(), round(own.ru_utime + own.ru_stime + ticks / TICKS_PER_S, 2)))
            for name, kilobytes in sums.items():
                self.peaks[name] = max(self.peaks.get(name, 0), round(kilobytes / 1024))

    @staticmethod
    def _ticks(pid):
        """Return the clock ticks of a process and of those of its children that it has waited for."""
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            return 0
        return sum(int(field) for field in fields[11:15])

    @staticmethod
    def _memory(pid):
        try:
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        except (FileNotFoundError, ProcessLookupError):
            return
        status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
        kind = "java" if status["Name"] == "java" else "python"
        if "VmRSS" in status:
            yield f"{kind}_rss_mb", int(status["VmRSS"].split()[0])
            yield f"{kind}_anonymous_mb", int(status["RssAnon"].split()[0])


def end_all():
    """End what is left below this process and wait for it."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        for pid in descendants():
            try:
                os.kill(pid, sign)
            except ProcessLookupError:
                continue
        if reap_until(time.monotonic() + 5):
            return


def reap_until(deadline):
    """Wait for children, adopted ones too; return whether none is left before the deadline."""
    while time.monotonic() < deadline:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return True
        if pid == 0:
            time.sleep(0.05)
    return False


def main():
    result, timeout_s, command = Path(sys.argv[1]), float(sys.argv[2]), sys.argv[4:]
    adopt_orphans()
    watch = Watch()
    watch.start()
    load = os.getloadavg()[0]
    started_ns = time.time_ns()
    began = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    for sign in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sign, lambda *_: (end_all(), sys.exit(130)))
    timed_out = False
    try:
        code = process.wait(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        timed_out, code = True, None
    wall_s = time.monotonic() - began
    # Workers end by themselves soon after the job; what does not is ended, and its CPU time counts all the same.
    if timed_out or not reap_until(time.monotonic() + GRACE_S):
        end_all()
    watch.stopped.set()
    watch.join()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    # PySpark's daemon ignores SIGCHLD, so that nobody waits for its workers and the kernel forgets what they used: then the last
    # sample with them in it counts.
    cpu_s = max([used.ru_utime + used.ru_stime, *(used_s for _, used_s in watch.cpu)])
    account = {
        "exit_code": code,
        "timed_out": timed_out,
        "started_ns": started_ns,
        "wall_s": round(wall_s, 3),
        "cpu_s": round(cpu_s, 3),
        "load_before": round(load, 2),
        "load_after": round(os.getloadavg()[0], 2),
        **dict(sorted(watch.peaks.items())),
        "cpu_series": watch.cpu,
    }
    result.write_text(json.dumps(account))


if __name__ == "__main__":
    main()
