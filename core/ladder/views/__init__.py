"""Views around a mesh: what cameras see of it, and the light that reaches them."""
