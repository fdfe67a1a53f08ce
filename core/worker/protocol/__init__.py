"""Commands, events and their encoding between panel and worker."""
