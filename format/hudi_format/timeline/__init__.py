"""Content of the timeline's files: commits, plans, results, history."""
