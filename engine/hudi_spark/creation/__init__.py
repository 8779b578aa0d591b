"""New tables: their properties, as the Apache release of each table version writes them, and their folders."""
