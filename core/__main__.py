"""`python -m verdigris.core` is the command."""

from verdigris.core.cli import main

main()
