"""Cases that write: recipes of steps, played by the model for their answers; conformance/writing_cases holds them."""
