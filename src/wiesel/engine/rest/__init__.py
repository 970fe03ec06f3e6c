"""Internal. The REST endpoint of a running job: Flink's paths and answers for the job of this process."""
