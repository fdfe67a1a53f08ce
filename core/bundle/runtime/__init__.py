"""The shaders that ship in a bundle, and materials that run through them."""
