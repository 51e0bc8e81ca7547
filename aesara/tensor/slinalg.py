"""Linear algebra by SciPy, under the documented path; see `aesara.tensor.linear_algebra`."""

from typing import Any

from numpy import iscomplexobj

from aesara.tensor.linear_algebra.cholesky import Cholesky, CholeskySolve, cho_solve, cholesky
from aesara.tensor.linear_algebra.eigen import Eigvalsh, EigvalshGrad, eigvalsh
from aesara.tensor.linear_algebra.matrix_equations import (
    BilinearSolveDiscreteLyapunov,
    SolveContinuousLyapunov,
    solve_continuous_lyapunov,
    solve_discrete_lyapunov,
)
from aesara.tensor.linear_algebra.matrix_functions import Expm, ExpmGrad, expm
from aesara.tensor.linear_algebra.solve import (
    Solve,
    SolveBase,
    SolveTriangular,
    solve,
    solve_triangular,
    solvetriangular,
)
from aesara.tensor.products.vectors import kron
from aesara.utils import deprecated_attribute

__all__ = [
    "BilinearSolveDiscreteLyapunov",
    "Cholesky",
    "CholeskySolve",
    "Eigvalsh",
    "EigvalshGrad",
    "Expm",
    "ExpmGrad",
    "Solve",
    "SolveBase",
    "SolveContinuousLyapunov",
    "SolveTriangular",
    "cho_solve",
    "cholesky",
    "eigvalsh",
    "expm",
    "iscomplexobj",
    "kron",
    "solve",
    "solve_continuous_lyapunov",
    "solve_discrete_lyapunov",
    "solve_triangular",
    "solvetriangular",
]

DEPRECATED_NAMES = [
    (name, f"`{name}` is deprecated; use `solve` instead.", op)
    for name, op in (
        ("solve_lower_triangular", SolveTriangular(lower=True)),
        ("solve_upper_triangular", SolveTriangular(lower=False)),
        ("solve_symmetric", Solve(assume_a="sym")),
    )
]


def __getattr__(name: str) -> Any:
    return deprecated_attribute(DEPRECATED_NAMES, __name__, name)
