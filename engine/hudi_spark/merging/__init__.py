"""A slice's log blocks become versions of records, and these meet the base rows."""
