"""Derivatives that need tensors, and operators that change gradients."""
