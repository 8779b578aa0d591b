"""Counterexamples as one thing, no matter who found them, the explorer, TLC or Apalache; and how they are drawn."""
