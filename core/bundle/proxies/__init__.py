"""Proxies: a material's albedo, mean normal and mean roughness as small textures."""
