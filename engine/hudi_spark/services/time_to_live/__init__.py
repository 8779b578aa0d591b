"""Time to live: partitions that are older than they may be are deleted."""
