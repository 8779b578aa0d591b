"""The table_state of the engine."""
