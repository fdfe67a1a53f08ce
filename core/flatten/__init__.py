"""What an artist would use instead of a student: one set of fitted textures, shaded as games do."""
