"""Compares decoders of a bundle with its reference, and the bundle with its material."""
