"""Internal. The connector ``datagen``: generated records, rows and columns."""
