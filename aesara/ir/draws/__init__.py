"""Random draws in typed Python, around NumPy's C functions for one number."""
