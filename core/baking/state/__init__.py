"""A bake in progress: what it holds, its checkpoint, and how it resumes."""
