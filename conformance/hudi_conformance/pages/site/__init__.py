"""Parts of the documentation site that are generated while it is built: clauses, commands, results, findings."""
