"""Finds what a bake keeps, approximates or drops of a material."""
