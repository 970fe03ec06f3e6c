"""Internal. Catalogs and their entries as objects of programs, over those of ``wiesel.sql.catalog`` and those of users."""
