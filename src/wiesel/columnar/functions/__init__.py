"""Internal. Functions of expressions, by topic, registered in ``registry``."""
