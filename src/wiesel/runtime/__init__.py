"""Internal. Task runtime: operators, chains, channels, watermarks, windows. No pyspark, no threads, no wall clock here."""
