"""What can be chosen of a bake, its limits, and the presets."""
