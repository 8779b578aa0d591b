"""The concurrency of the engine."""
