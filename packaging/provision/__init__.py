"""The steps behind bootstrap.py. Standard library only: it runs before anything is installed."""
