"""Compresses all textures of a material into two textures of BC7 and a small network."""
