"""Facade: the special functions under the module path of Aesara."""

from aesara.configdefaults import config
from aesara.scalar.arithmetic import true_divide
from aesara.scalar.bessel import *
from aesara.scalar.combinatorial import *
from aesara.scalar.comparison import isinf
from aesara.scalar.conditional import switch
from aesara.scalar.entropy import *
from aesara.scalar.exponential import *
from aesara.scalar.integrals import *
from aesara.scalar.inverse_incomplete import *
from aesara.scalar.normal import *
from aesara.scalar.special import *
from aesara.scalar.types import float64
