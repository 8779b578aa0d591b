"""The metadata table kept: created, filled from what the table has, changed by each action before it completes."""
