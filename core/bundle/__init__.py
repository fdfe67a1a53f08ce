"""The bundle: what a bake leaves on disk, and what an engine loads. See docs/FORMAT.md."""
