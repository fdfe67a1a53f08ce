"""Pictures of materials: views, rendering, comparison, image files and the view window."""
