"""What a bake reports while it runs."""
