"""The read of the engine."""
