"""What happened in a range of time: changed rows, the change feed, and reading on from a checkpoint."""
