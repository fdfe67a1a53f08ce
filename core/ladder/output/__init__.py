"""Files of a ladder: glTF, USD, figures and a page."""
