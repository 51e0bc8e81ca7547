"""The public names of rules about matrices with known structure.

The rules are in `aesara.tensor.rewriting.matrices`; docs/linear_algebra.md lists all.
"""

from aesara.tensor.rewriting.matrices.determinants import local_det_chol, local_log_prod_sqr
from aesara.tensor.rewriting.matrices.solutions import inv_as_solve, psd_solve_with_chol, tag_solve_triangular
from aesara.tensor.rewriting.matrices.transposes import no_transpose_symmetric, transinv_to_invtrans

__all__ = [
    "inv_as_solve",
    "local_det_chol",
    "local_log_prod_sqr",
    "no_transpose_symmetric",
    "psd_solve_with_chol",
    "tag_solve_triangular",
    "transinv_to_invtrans",
]
