"""Formats of records and files; programs import them from ``wiesel.datastream.formats``."""
