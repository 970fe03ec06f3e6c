"""Internal. A running job's own REST endpoint: Flink's paths and answers for the one job of this process."""
