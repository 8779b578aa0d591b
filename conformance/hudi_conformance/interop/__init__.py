"""Implementations held against each other: peers, real tables, mixed writers, stress runs, random sequences."""
