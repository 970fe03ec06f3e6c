"""Formats of records and files: the modules of ``pyflink.datastream.formats``."""
