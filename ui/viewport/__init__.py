"""Parts of the viewport: places, scale, camera."""
