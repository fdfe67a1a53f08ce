"""The files of a bundle: manifest, weights, textures, reference. Reading and writing."""
