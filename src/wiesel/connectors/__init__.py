"""Sources and sinks. They stand on ``wiesel.spi`` as those of users do; programs import them from ``wiesel.datastream.connectors``."""
