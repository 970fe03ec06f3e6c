"""What a job takes of the machine while it has nothing or little to do: CPU time, threads, file descriptors, memory."""

from __future__ import annotations

from frame.case import WIESEL, Case, Run, Scale, Target

PROGRAM = "programs/footprint.py"
IDLE = "no records"
SLOW = "one record a second"
LARGE = "168 tasks"


def cases(scale: Scale) -> list[Case]:
    """Return the cases."""
    seconds = scale.records(30, 10)
    small = {"parallelism": 2, "levels": 3, "seconds": seconds, "settle": 15}
    large = {"parallelism": 8, "levels": 21, "seconds": seconds, "settle": 5}
    return [
        Case(
            "footprint-idle",
            f"a job of 6 tasks with nothing or little to do, for {seconds} s (CPU in percent of a core)",
            (Run(IDLE, WIESEL, PROGRAM, small, {"tasks": 6}), Run(SLOW, WIESEL, PROGRAM, {**small, "rate": 1}, {"tasks": 6})),
            tuple(Target(f"less than 2 % of a core, {label}", "cpu_percent", label, at_most=2) for label in (IDLE, SLOW)),
            figures=("cpu_percent", "jvm_cpu_percent", "workers_cpu_percent", "threads", "fds", "pss_mb", "rss_mb"),
        ),
        Case(
            "footprint-large",
            "a job of 168 tasks (21 levels of 8) without records",
            (Run(LARGE, WIESEL, PROGRAM, large, {"tasks": 168}),),
            (
                Target("half the threads of Spark's JVM that there were (2,810)", "jvm_threads", LARGE, at_most=1_405),
                Target("half the file descriptors of Spark's JVM that there were (8,565)", "jvm_fds", LARGE, at_most=4_282),
                Target("half the memory that there was (4,286 MB)", "pss_mb", LARGE, at_most=2_143),
            ),
            figures=("cpu_percent", "jvm_threads", "threads", "jvm_fds", "fds", "jvm_pss_mb", "workers_pss_mb", "pss_mb", "rss_mb"),
        ),
    ]
