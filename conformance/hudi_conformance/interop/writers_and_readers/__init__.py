"""Which reader reads what which writer wrote."""
