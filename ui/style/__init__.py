"""How the panel looks: palettes, sizes, icons, and the widgets that only the look needs."""
