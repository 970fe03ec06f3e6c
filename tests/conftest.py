"""What all tests share: the workers' Python, Ctrl-C for what they start, and hypothesis without a wall clock."""

from __future__ import annotations

import os
import signal
import sys
import threading

from hypothesis import HealthCheck, Phase, settings

# Spark's workers must be this Python: another one would lack the packages, or unpickle differently.
os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable

# A background process with a JVM would disturb whatever test is the first to run the command.
os.environ["WIESEL_WARM_UP"] = "off"

# Shells start what runs in the background with SIGINT ignored, and so would do all that tests start, and press Ctrl-C for.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A failure prints the blob that replays it. Deadlines, and how long it takes to make examples, measure the machine, not the code.
settings.register_profile("wiesel", deadline=None, print_blob=True, suppress_health_check=(HealthCheck.too_slow,))
# For scripts/mutation_check.py, which asks whether a test fails, not for the smallest example of it.
settings.register_profile("mutants", settings.get_profile("wiesel"), phases=(Phase.explicit, Phase.generate))
settings.load_profile("wiesel")
