"""TLA+ modules and what checks them: manifests of runs, TLC, Apalache, values and graphs of states."""
