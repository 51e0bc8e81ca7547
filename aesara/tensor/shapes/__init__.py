"""Shapes: reading, stating and changing them; the order of dimensions and of elements."""
