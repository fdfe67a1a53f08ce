"""Meshes: reading, polygons, rasterisation and coverage of the unit square."""
