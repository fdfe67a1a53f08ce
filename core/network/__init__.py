"""The student: what it is made of (spec), its numbers (parameters) and a readable oracle (numpy)."""
