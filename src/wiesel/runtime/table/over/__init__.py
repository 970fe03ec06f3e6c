"""Internal. OVER aggregates: functions over frames of rows."""
