"""Pictures of materials: views, lighting, metrics, heat maps, image files and the view window."""
