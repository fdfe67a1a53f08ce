"""How values are stored: grids of texels, soft quantisation, tone curves, glTF textures, images."""
