"""The images of a rung, as files and as compressed blocks."""
