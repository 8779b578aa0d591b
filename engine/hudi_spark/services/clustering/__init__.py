"""Clustering: rows of small files put into large ones, sorted, as new file groups in place of the old."""
