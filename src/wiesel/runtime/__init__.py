"""Internal. What runs in a task: operators, chains, channels, watermarks, windows. No pyspark, no threads, no wall clock here."""
