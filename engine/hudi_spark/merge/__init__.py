"""The merge of the engine."""
