"""What stands beside the timeline: properties, definitions, metafiles."""
