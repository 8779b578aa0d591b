"""Schedules that the model's explorer writes out: interleavings that together cover every edge of a graph of states."""
