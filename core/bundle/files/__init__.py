"""The files of a bundle: manifest, weights, latents, maps, reference values."""
