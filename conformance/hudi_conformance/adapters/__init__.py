"""Adapters that come with the suite, each a program of the protocol."""
