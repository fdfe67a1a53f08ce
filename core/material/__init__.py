"""From MaterialX text to a teacher: a function of uv and two directions, evaluated on a device."""
