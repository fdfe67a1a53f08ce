"""The student: its shape (spec), its numbers (parameters) and a readable oracle (numpy)."""
