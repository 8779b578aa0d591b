"""Agreement of the TLA+ modules with the model: the same states, the same steps, the same shortest counterexamples."""
