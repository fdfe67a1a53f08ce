"""The settings of a bake: presets and their fields."""
