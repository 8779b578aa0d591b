"""The conformance suite: runner, corpus, reports."""
