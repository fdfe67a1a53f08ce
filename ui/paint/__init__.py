"""Painted weights: the map, its owners, and the paint of the scene. Without Qt."""
