"""The version of the package, as Aesara's documentation has it."""

from aesara import __version__ as version

__all__ = ["version"]
