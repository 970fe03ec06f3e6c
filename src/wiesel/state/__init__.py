"""Internal. State backends: keyed tables, timers, operator state; key groups, changelog files, snapshots and TTL."""
