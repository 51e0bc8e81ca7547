"""The functions and operations of sparse matrices under the path where Aesara documents them.

They are defined in the modules of their families beside this one.
"""

from aesara.configdefaults import config
from aesara.graph.generic import generic
from aesara.sparse.arithmetic import *
from aesara.sparse.arrangement import *
from aesara.sparse.comparison import *
from aesara.sparse.construction import *
from aesara.sparse.conversion import *
from aesara.sparse.parts import *
from aesara.sparse.products import *
from aesara.sparse.reductions import *
from aesara.sparse.slicing import *
from aesara.sparse.stacking import *
from aesara.sparse.structured import *
from aesara.sparse.type import SparseTensorType
from aesara.sparse.type import has_sparse_type as _is_sparse_variable
from aesara.sparse.type import is_sparse_value as _is_sparse
from aesara.sparse.variables import *
from aesara.sparse.variables import _sparse_py_operators
from aesara.tensor.elementwise.ops import add as at_add
from aesara.tensor.elementwise.ops import exp, log, maximum, minimum, round_half_to_even, sigmoid
from aesara.tensor.elementwise.ops import pow as at_pow
from aesara.tensor.type import iscalar, ivector
