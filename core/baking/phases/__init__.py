"""The phases of a bake up to its end: it is opened, trained, enlarged, and its size chosen."""
