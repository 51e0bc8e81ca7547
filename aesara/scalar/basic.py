"""Facade: the scalar types, ops and functions under the module path of Aesara."""

from typing import Any

from aesara.configdefaults import config
from aesara.graph import hooks
from aesara.scalar.arithmetic import *
from aesara.scalar.casting import *
from aesara.scalar.comparison import *
from aesara.scalar.complex import *
from aesara.scalar.composite import *
from aesara.scalar.conditional import *
from aesara.scalar.constants import *
from aesara.scalar.deprecations import DEPRECATED_NAMES
from aesara.scalar.exponential import *
from aesara.scalar.logic import *
from aesara.scalar.op import *
from aesara.scalar.power import *
from aesara.scalar.promotion import *
from aesara.scalar.rounding import *
from aesara.scalar.trigonometric import *
from aesara.scalar.types import *
from aesara.scalar.var import *
from aesara.utils import deprecated_attribute

pprint = hooks.pprint


def __getattr__(name: str) -> Any:
    return deprecated_attribute(DEPRECATED_NAMES, __name__, name)
