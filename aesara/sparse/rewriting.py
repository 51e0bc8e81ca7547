"""Rewrites of sparse matrices, under the names that Aesara has for them.

`local_csm_properties_csm`, `local_dense_from_sparse_sparse_from_dense` and `local_inplace_remove0` are applied to every
function (`pattern_rules`), the others when a mode asks for them (`vector_rules`).
"""

from aesara.configdefaults import config
from aesara.sparse.parts import CSC, CSR, csm_properties
from aesara.sparse.pattern_rules import *
from aesara.sparse.products import usmm
from aesara.sparse.vector_forms import *
from aesara.sparse.vector_rules import *
from aesara.tensor.elementwise.ops import mul, neg, sub
