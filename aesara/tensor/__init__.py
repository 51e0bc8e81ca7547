"""Symbolic tensors: constructors, functions and the variables they make.

The names here are gathered from the modules of this package that define them.

Loading a module binds its name here, so the modules come first: `var`, `shape`, `dot` and others
are then replaced by the functions of these names.
"""


from aesara.tensor.deprecations import deprecated_attribute


def __getattr__(name: str) -> object:
    return deprecated_attribute(__name__, name)
