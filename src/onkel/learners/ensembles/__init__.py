"""Models that are made of models: one for each class, one for each kernel, committees, renewed partitions."""
