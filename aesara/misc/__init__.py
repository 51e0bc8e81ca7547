"""What is useful beside graphs and functions."""
