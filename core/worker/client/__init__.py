"""The panel's side: starts a worker, exchanges messages with it, and watches it."""
