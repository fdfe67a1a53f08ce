"""One material for every device: from a neural material to vertex colours, fitted on a mesh."""
