"""The write of the engine."""
