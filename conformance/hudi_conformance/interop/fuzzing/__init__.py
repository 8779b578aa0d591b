"""Writing checked from outside: random sequences of writing ops put to two adapters, answers compared step by step."""
