"""Indexing: ``x[...]``, writing to parts, choices by positions and by conditions."""
