"""A table goes back to what it was at a write: whatever came after is undone, the youngest first."""
