"""The fsck of the engine."""
