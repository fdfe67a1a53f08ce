"""Pictures of materials: views, G-buffers, renderers, comparison, picture files, a view window."""
