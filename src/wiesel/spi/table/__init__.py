"""Tables: their schemas and names, and what a connector implements to be the source of one.

A connector derives from :class:`~wiesel.spi.table.factory.TableSourceFactory` and announces its class as an entry point of the group
``wiesel.table_factories``; tables then name it by its identifier (``'connector' = '...'``).
"""
