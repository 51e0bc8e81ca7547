"""Conversion of graphs to functions of JAX, which XLA compiles for processors and accelerators.

The linker is loaded with the package, JAX when the first graph is converted.
"""

from aesara.link.jax.linker import JAXLinker

__all__ = ["JAXLinker"]
