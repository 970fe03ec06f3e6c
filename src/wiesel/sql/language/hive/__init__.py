"""Internal. Hive's dialect: from text to statements."""
