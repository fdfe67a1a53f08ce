"""The chart of a bake and its figures."""
