"""The bundle, which a bake writes and an engine loads. See docs/FORMAT.md."""
