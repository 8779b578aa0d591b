"""A table without its properties or its timeline, built again from its files and from what its owner knows."""
