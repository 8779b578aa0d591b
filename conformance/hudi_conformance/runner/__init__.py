"""Cases put to adapters, answers compared, verdicts: the protocol session, the adapter pool, the suite."""
