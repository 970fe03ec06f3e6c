"""Internal. The connector ``print``: records and rows as lines on standard output."""
