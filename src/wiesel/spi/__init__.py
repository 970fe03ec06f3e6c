"""Internal. Interfaces for users and connectors: functions, state descriptors, sources, sinks, formats, watermark strategies."""
