"""Pictures of materials: views, G-buffers, rendering, comparison, image files and the view window."""
