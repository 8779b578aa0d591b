"""Counterexamples as one thing, whoever found them, the explorer, TLC or Apalache; and how they are drawn."""
