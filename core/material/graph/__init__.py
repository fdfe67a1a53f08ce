"""MaterialX's standard library, and traversal of a material's graph."""
