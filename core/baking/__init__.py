"""The bake: from teachers and settings to bundles."""
