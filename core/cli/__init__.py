"""The `verdigris` command."""
