"""Who keeps a table's lock: one small interface, and what is behind it."""
