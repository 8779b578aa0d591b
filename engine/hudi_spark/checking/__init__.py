"""What a table at rest breaks: every clause, with the file, and nothing is written."""
