"""Internal. The four graphs: StreamGraph, JobGraph, ExecutionGraph, StagePlan. Data only."""
