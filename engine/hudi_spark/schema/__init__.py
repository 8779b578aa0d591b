"""The schema of the engine."""
