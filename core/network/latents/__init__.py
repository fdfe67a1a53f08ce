"""Latents: how texels are read, quantised, and stored in blocks of BC7."""
