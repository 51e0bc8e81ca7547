"""Special functions that no library has, such as derivatives with respect to parameters, as routines."""

from aesara.scalar.routines.beta import *
from aesara.scalar.routines.error_function import *
from aesara.scalar.routines.gamma import *
from aesara.scalar.routines.hypergeometric import *
from aesara.scalar.routines.vanishing_ratios import *
from aesara.scalar.routines.zeta import *
