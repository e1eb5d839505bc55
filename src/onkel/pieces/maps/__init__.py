"""Features of rows: random, learned, of landmarks, of partitions."""
