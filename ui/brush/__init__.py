"""Painting on the surface and on the texture: the page of the brush, and what it draws."""
