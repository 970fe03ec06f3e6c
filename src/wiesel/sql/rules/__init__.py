"""Internal. Rules that make another plan of the same meaning, a file each."""
