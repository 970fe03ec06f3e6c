"""What all tests share: the workers' Python, and hypothesis without a wall clock."""

from __future__ import annotations

import os
import sys

from hypothesis import Phase, settings

# Spark's workers must be this Python: another one would lack the packages, or unpickle differently.
os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable

# A failure prints the blob that replays it. Deadlines measure the machine, not the code.
settings.register_profile("wiesel", deadline=None, print_blob=True)
# For scripts/mutation_check.py, which asks whether a test fails, not for the smallest example of it.
settings.register_profile("mutants", settings.get_profile("wiesel"), phases=(Phase.explicit, Phase.generate))
settings.load_profile("wiesel")
