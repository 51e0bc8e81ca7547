"""Discrete Fourier transforms, of complex and real tensors and in Aesara's layout of real pairs."""
