"""BLAKE2, for digests of content.

`hashlib` gives the same function, but loads OpenSSL first, which takes longer than all else of a digest.
"""

try:
    from _blake2 import blake2b
except ImportError:  # a Python that keeps it elsewhere
    from hashlib import blake2b

__all__ = ["blake2b"]
