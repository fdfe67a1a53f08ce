"""What a bake keeps, approximates or drops of a material, found in its graph."""
