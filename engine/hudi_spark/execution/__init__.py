"""A query becomes tasks, and something runs them."""
