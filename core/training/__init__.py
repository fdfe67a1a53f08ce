"""Trainers: optimisation of a student with samples of a teacher."""
