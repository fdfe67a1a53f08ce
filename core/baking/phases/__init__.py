"""The phases of training: starts, the small texture, the large one, and repairs."""
