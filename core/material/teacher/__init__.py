"""The teacher: the generated material on a device, with its textures."""
