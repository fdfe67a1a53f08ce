"""Pictures of materials: views, G-buffers, renderers, comparison, picture files, the view window."""
