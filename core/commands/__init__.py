"""The subcommands, one a file. Each imports its work when it runs, so that help answers at once."""
