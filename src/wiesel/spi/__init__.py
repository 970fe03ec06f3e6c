"""Internal. What users and connectors implement: functions, state descriptors, sources, sinks, formats, watermark strategies."""
