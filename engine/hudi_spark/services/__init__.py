"""Table services: what keeps a table small and fast beside its writers, each planned, then carried out."""
