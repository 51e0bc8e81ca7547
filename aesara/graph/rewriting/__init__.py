"""Rewriting of graphs: rewriters, drivers, patterns and databases."""
