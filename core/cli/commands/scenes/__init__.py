"""Commands that bake whole scenes, here or on a farm."""
