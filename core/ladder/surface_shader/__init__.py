"""Textures of a material's own surface shader, as MaterialX evaluates it."""
