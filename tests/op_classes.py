"""The classes of ops of the whole package: the same whatever a process has imported before."""

import importlib
import pkgutil
import sys
import warnings
from functools import cache

import aesara
from aesara.graph.op import Op

#: Modules for those who have packages that are no requirement of this one.
OTHER_PACKAGES = ("aesara.graph.rewriting.logic_terms", "aesara.pytensor")


@cache
def import_everything():
    """Import every module of the package."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for module in pkgutil.walk_packages(aesara.__path__, "aesara."):
            if not module.name.startswith(OTHER_PACKAGES):
                importlib.import_module(module.name)


def subclasses(cls):
    """The classes below a class, each once."""
    found, waiting = {}, [cls]
    while waiting:
        for sub in waiting.pop().__subclasses__():
            if sub not in found:
                found[sub] = None
                waiting.append(sub)
    return list(found)


def op_classes(*places):
    """The classes of ops that modules with these beginnings of names define, by their names.

    An example of a docstring may have defined a class while its module ran as a test: it is no part of the module.
    """
    import_everything()
    places = places or ("aesara.",)
    found = (
        cls
        for cls in subclasses(Op)
        if cls.__module__.startswith(places) and getattr(sys.modules[cls.__module__], cls.__name__, None) is cls
    )
    return sorted(found, key=lambda cls: (cls.__name__, cls.__module__))


def is_base(cls):
    """Return whether the package derives classes from `cls`; subclasses in tests do not count."""
    return any(sub.__module__.startswith("aesara.") for sub in cls.__subclasses__())
