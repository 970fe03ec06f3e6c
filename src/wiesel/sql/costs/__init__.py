"""Internal. How many rows relations have, as far as statistics tell, and what it costs to compute them."""
