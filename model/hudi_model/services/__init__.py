"""Table services: each is a module of functions from a table to the effects that change it."""
