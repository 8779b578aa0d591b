"""Timelines as pictures and as text."""
