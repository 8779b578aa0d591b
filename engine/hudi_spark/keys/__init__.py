"""The keys of the engine."""
