"""Thin adapters between the hosts and the panel."""
