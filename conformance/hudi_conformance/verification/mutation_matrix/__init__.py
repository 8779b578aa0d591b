"""Which cases tell which mutants from the model: the matrix of the suite's own strength."""
