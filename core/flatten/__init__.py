"""Fits plain textures to a material, for viewports that cannot evaluate a neural material."""
