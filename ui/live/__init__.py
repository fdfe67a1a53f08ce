"""Live inputs of the panel: the page that chooses them, and their sliders below the viewport."""
