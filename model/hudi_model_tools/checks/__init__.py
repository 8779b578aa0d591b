"""What a table at rest may break, by concept: each module finds every breach of its clauses, not only the first."""
