"""Pictures of materials: meshes, views, light and image files."""
