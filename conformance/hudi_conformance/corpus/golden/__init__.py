"""The corpus: recipes that write tables, questions about them, and the model's answers."""
