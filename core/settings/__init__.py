"""The settings of a bake, their limits, and the presets."""
