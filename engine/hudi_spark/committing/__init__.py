"""One action on the timeline, from its request to its completion: what writes and table services have in common."""
