"""A page to look at neural materials with: one file, for a browser without a network."""
