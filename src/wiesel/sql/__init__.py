"""Internal. The layer between tables and operators: names, catalogs, connectors, plans and their translation.

Free of imports, so that a worker that needs one module does not load the others.
"""
