"""The engine behind the adapter protocol of the conformance suite."""
