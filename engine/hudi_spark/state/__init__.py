"""What a table's own files say: configuration, timeline, commits, file slices."""
