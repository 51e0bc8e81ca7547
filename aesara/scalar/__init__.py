"""Single numbers: their types, variables and operations.

The operations here have no dimensions. `aesara.tensor` applies them to arrays.
Each module of this package says in its ``__all__`` what it has for users; all of it is found here.
"""

import aesara.scalar.operators
from aesara.configdefaults import config
from aesara.graph.pullback import grad_not_implemented
from aesara.scalar.arithmetic import *
from aesara.scalar.bessel import *
from aesara.scalar.casting import *
from aesara.scalar.combinatorial import *
from aesara.scalar.comparison import *
from aesara.scalar.complex import *
from aesara.scalar.composite import *
from aesara.scalar.conditional import *
from aesara.scalar.constants import *
from aesara.scalar.deprecations import BASIC_DEPRECATIONS, DEPRECATED_NAMES
from aesara.scalar.entropy import *
from aesara.scalar.erfc_integrals import *
from aesara.scalar.exponential import *
from aesara.scalar.gradient import *
from aesara.scalar.integrals import *
from aesara.scalar.inverse_incomplete import *
from aesara.scalar.logarithms_of_sums import *
from aesara.scalar.logic import *
from aesara.scalar.native import *
from aesara.scalar.normal import *
from aesara.scalar.op import *
from aesara.scalar.power import *
from aesara.scalar.promotion import *
from aesara.scalar.rounding import *
from aesara.scalar.special import *
from aesara.scalar.trigonometric import *
from aesara.scalar.types import *
from aesara.scalar.vanishing_ratios import *
from aesara.scalar.var import *
from aesara.utils import modules_on_demand

__getattr__ = modules_on_demand(__name__, DEPRECATED_NAMES)
