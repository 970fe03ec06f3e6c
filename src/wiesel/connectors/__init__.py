"""Sources and sinks, built on ``wiesel.spi`` like user-defined ones; programs import them from ``wiesel.datastream.connectors``."""
