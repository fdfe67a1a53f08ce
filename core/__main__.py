"""`python -m verdigris.core` is the command."""

from verdigris.core.cli.main import run

run()
