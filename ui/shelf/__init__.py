"""The shelf: what waits to be baked, what was baked, and what was open."""
