"""What must hold of the model and of its clauses: properties, mutants, TLA+, traces, interleavings, the lint."""
