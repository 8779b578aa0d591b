"""Log compaction: the blocks of a slice become one log file, its base file and its logs stay."""
