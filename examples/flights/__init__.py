"""A year of real flights as a stream: hourly delays per airport, aircraft whose delays build up, reports that come too late."""
