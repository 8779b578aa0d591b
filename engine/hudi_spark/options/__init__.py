"""The `hoodie.*` keys: what is known of each, what a caller gave, and the page about them."""
