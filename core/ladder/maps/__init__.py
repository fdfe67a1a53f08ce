"""Maps beside the fits: ambient occlusion of the mesh, and opacity of the material."""
