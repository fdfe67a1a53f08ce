"""The student: its shape (spec), its parameters and a readable oracle (numpy)."""
