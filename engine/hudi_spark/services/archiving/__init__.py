"""Archival: completed actions leave the active timeline; which of them may, and their move to the history."""
