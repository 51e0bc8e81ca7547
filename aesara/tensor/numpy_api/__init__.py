"""NumPy's names, and NumPy's functions called with variables."""
