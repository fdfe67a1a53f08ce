"""Bundles for other loaders and other textures."""
