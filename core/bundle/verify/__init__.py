"""Proves that decoders of a bundle agree."""
