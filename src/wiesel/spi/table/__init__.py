"""Tables: schemas, names, and the interfaces of table connectors.

A connector derives from :class:`~wiesel.spi.table.factory.TableSourceFactory` and is registered as an entry point of the group
``wiesel.table_factories``; tables refer to it by its identifier (``'connector' = '...'``).
"""
