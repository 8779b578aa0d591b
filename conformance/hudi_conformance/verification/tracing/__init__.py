"""Traces under TLA+: the generated module, TLC over it, what came of each trace."""
