"""Base files, and the bloom filters in their footers."""
