"""Internal. The functions that expressions call, by topic. ``registry`` finds them."""
