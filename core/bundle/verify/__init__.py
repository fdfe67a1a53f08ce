"""Compares decoders of a bundle with its reference."""
