"""Internal. Catalogs, and what has a name in them: tables, views, functions, models, modules."""
