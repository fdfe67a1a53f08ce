"""The end of a bake: rounding, heads, measurements, warnings, and the bundle."""
