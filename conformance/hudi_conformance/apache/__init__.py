"""Apache Hudi's releases, driven in this process: bundles, sessions, what they refuse and log."""
