"""The spark of the engine."""
