"""Light on a neural material: its sampler, and environments."""
