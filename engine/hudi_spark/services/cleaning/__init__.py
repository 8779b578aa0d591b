"""Cleaning: old file slices go, and what was replaced long ago; what is planned, and then carried out."""
