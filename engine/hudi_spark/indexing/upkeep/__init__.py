"""The metadata table's own services: compaction, log compaction, cleaning, archival, each where it is due."""
