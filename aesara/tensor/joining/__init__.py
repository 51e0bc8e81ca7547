"""Joining tensors, splitting and padding them."""
