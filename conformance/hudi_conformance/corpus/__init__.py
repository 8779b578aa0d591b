"""The recipes of golden tables and of writing cases, the mutants that they kill, and how they are kept."""
