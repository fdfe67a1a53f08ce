"""glTF textures: their model, their fit, and how they are drawn."""
