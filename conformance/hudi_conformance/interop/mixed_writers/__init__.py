"""Two implementations take turns writing one table, and both read the same rows after each turn."""
