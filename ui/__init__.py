"""The bake panel. Only this package knows Qt."""
