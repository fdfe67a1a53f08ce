"""A bake in progress: its parts, its checkpoint, and how it resumes."""
