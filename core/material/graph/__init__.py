"""MaterialX's standard library, and walks through a material's graph."""
