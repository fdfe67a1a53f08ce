"""The shaders that ship in a bundle, and the evaluation of bundles with them."""
