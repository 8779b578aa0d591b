"""Which file slices a query need not read."""
