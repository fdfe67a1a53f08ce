"""The commands. Each module has an `app`, which `core.cli.loader` lists."""
