"""A worker that outlives its bakes, and bakes for programs of the same user that find it."""
