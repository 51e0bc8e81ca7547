"""What libraries of Theano's time ask for: its modules, and names that Python and NumPy have removed since."""

import collections
import collections.abc
import inspect

import numpy as np

import aesara.theano_compat  # noqa: F401

ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")

for name in ("Callable", "Iterable", "Mapping"):  # downhill and Keras
    setattr(collections, name, getattr(collections.abc, name))
if not hasattr(inspect, "getargspec"):  # Keras
    inspect.getargspec = lambda function: ArgSpec(*inspect.getfullargspec(function)[:4])
np.testing.Tester = type("Tester", (), {"test": None})  # with which PyMC 3 offers its tests
