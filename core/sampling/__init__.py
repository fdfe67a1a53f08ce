"""Where the student is trained: the draw of uv and direction pairs, shaped by importance."""
