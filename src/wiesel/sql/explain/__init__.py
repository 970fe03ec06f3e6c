"""Internal. Plans in the notation of Flink's EXPLAIN: relational algebra, physical operators, changelog modes and advice."""
