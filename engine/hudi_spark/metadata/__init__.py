"""The metadata table: a table of its own that says which files a table has and what is in them."""
