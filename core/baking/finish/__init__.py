"""The end of a bake: rounding, final measurements, warnings, the bundle."""
