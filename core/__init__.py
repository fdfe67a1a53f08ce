"""The host-agnostic core of Verdigris: read a material, train its neural twin, export it."""
