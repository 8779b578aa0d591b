"""Functions of columns, and the values that filters compare with: what a filter means on Arrow data."""
