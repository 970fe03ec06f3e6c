"""Internal. Spark's Python daemon, named by ``spark.python.daemon.module``: a process started early, or this one."""

from __future__ import annotations

import sys

from wiesel.engine.spark.early_daemon import hand_over

if __name__ == "__main__":
    status = hand_over()
    if status is not None:
        sys.exit(status)
    from wiesel.engine.spark import daemon_process

    daemon_process.prepare()
    daemon_process.run()
