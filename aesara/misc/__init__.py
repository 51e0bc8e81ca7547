"""Utilities beside graphs and functions."""
