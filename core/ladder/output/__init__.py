"""Files of a ladder: textures, glTF, figures and a page."""
