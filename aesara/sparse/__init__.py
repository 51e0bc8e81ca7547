"""Sparse matrices: symbolic variables whose values are matrices of `scipy.sparse`.

The functions of this module build graphs of such variables. A sparse matrix consists of three vectors and a shape;
compiled functions compute with these.

Examples
--------
>>> import aesara
>>> import aesara.sparse
>>> import scipy.sparse
>>> A = aesara.sparse.csr_matrix("A")
>>> x = aesara.tensor.dvector("x")
>>> f = aesara.function([A, x], aesara.sparse.dot(A, x))
>>> f(scipy.sparse.csr_matrix([[1.0, 2.0], [0.0, 3.0]]), [1.0, 10.0])
array([21., 30.])
"""

from aesara.graph.conversion import as_symbolic
from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.graph.pullback import grad_not_implemented, grad_undefined
from aesara.sparse import pattern_rules, rewriting, sharedvar
from aesara.sparse.basic import *
from aesara.sparse.row_gradients import sparse_grad
from aesara.sparse.sharedvar import sparse_constructor as shared
from aesara.sparse.type import SparseTensorType
from aesara.sparse.utils import hash_from_sparse
from aesara.tensor.core.dtypes import continuous_dtypes as tensor_continuous_dtypes
from aesara.tensor.core.dtypes import discrete_dtypes as tensor_discrete_dtypes
from aesara.tensor.core.dtypes import int_dtypes, integer_dtypes, uint_dtypes
from aesara.tensor.core.tensor_constant import TensorConstant
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.joining.join_split import Split
from aesara.tensor.products.dot import dot as at_dot
from aesara.tensor.shapes.shape import shape
from aesara.tensor.shapes.specify_shape import specify_broadcastable
from aesara.tensor.type import TensorType, scalar, tensor, vector
from aesara.utils import modules_on_demand

pattern_rules.rules.register()

#: formats of matrices that operations support
sparse_formats = ["csc", "csr"]

#: dtypes of their elements
float_dtypes = ["float32", "float64"]
complex_dtypes = ["complex128", "complex64"]
continuous_dtypes = [*complex_dtypes, *float_dtypes]
discrete_dtypes = [*int_dtypes, *uint_dtypes]
all_dtypes = [*discrete_dtypes, *continuous_dtypes]

__getattr__ = modules_on_demand(__name__, elsewhere={"COp": "aesara.link.c.op"})
