"""Proxies: what a material reflects in all, as small textures, measured on its numbers."""
