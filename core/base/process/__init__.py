"""This process and others: limits, endings, profiles, and where their programs are."""
