"""Moving pictures: GIF, WebP, MP4, or a folder of PNGs."""
