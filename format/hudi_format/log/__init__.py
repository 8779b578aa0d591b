"""Log files: blocks, their headers, their content."""
