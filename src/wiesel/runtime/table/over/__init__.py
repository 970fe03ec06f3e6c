"""Internal. OVER aggregates: functions of the rows around each row."""
