"""Internal. From trees of sqlglot to plans: names are looked up, types worked out, errors told with their place."""
