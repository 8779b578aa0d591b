"""The filters of the engine."""
