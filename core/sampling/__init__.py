"""Draws training samples: positions and pairs of directions, weighted by importance."""
