"""Maps of emission and opacity: their size, and blocks of BC6H."""
