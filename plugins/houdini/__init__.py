"""The Houdini adapter."""
