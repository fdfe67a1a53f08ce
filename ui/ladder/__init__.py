"""The queue: several documents, baked one after the other."""
