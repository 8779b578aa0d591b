"""Pages of docs/ that are generated from the sources."""
