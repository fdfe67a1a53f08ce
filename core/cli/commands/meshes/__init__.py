"""Commands about materials on a mesh."""
