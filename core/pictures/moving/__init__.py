"""Moving pictures: GIF, MP4, or a folder of PNGs."""
