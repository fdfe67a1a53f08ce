"""How values are stored: grids of texels, soft quantisation, tone curves, glTF texels, blocks."""
