"""What an implementation imports to speak the adapter protocol."""
