"""Internal. The engines that run a job: ``spark`` (pipelined Spark job) and ``local`` (one process, virtual clock)."""
