"""The report on a material, written before a bake."""
