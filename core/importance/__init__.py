"""How much each place of a material matters."""
