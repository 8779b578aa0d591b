"""Every durable effect of a writer, through one helper with two hooks."""
