"""Errors of half floats in a decoder, and rounding that keeps them small."""
