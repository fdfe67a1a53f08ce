"""Attributes of our own in documents: of which published input a port has its value.

MaterialX has inputs of graphs, but none of a material: what a material of USD publishes, such as a
promoted parameter, is noted at each input that reads it. MaterialX ignores unknown attributes.
"""

PUBLISHED = "publishedas"
"""At an input of a node: the name of the material's input that has its value."""

PUBLISHED_LABEL = "publishedlabel"
"""Its name for people."""
