"""The mesh: its uv sets and primvars, and where each texel lies on it."""
