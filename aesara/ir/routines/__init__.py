"""The library routines that programs may call; each module has those of one library.

A routine is made when it is asked for: its name is that of its family and the arguments of the function that makes it.
"""

from __future__ import annotations

from collections.abc import Callable

from aesara.ir.routine import Routine
from aesara.ir.routines import (
    draws,
    fourier,
    lapack,
    mrg,
    numpy_loops,
    orthogonal,
    products,
    schur_forms,
    sorting,
    spectra,
)

__all__ = ["FAMILIES", "routine_named"]

#: by family, what makes its routines
FAMILIES: dict[str, Callable[..., Routine]] = {
    **{
        maker.__name__: maker
        for maker in (
            lapack.cholesky,
            lapack.solve_triangular,
            lapack.lu,
            lapack.lu_of_columns,
            lapack.solve_lu,
            lapack.inverse_of_lu,
            orthogonal.least_squares,
            orthogonal.pivoted_qr,
            orthogonal.qr,
            orthogonal.orthogonal,
            spectra.eig,
            spectra.eigh,
            spectra.eigh_of_two,
            spectra.schur,
            spectra.svd,
            schur_forms.qz,
            schur_forms.qz_reordered,
            schur_forms.scales,
            schur_forms.sylvester,
            lapack.solve_banded,
            lapack.solve_definite_banded,
        )
    },
    "draw": draws.draw,
    "fill": draws.fill,
    "multinomial": draws.multinomial,
    "dirichlet": draws.dirichlet,
    "subset": draws.subset,
    "weighted_subset": draws.weighted_subset,
    "multivariate_hypergeometric": draws.multivariate_hypergeometric,
    "mrg31k3p": mrg.mrg31k3p,
    "loop": numpy_loops.loop,
    "power_of_one": numpy_loops.power_of_one,
    "numpy_svd": numpy_loops.svd,
    "numpy_matmul": numpy_loops.matmul,
    "matmul": products.product,
    "matmul_added": products.added,
    "fourier": fourier.transform,
    "fourier_of_real": fourier.transform_of_real,
    "fourier_to_real": fourier.transform_to_real,
    "sort": sorting.sort,
    "argsort": sorting.argsort,
}


def routine_named(name: str) -> Routine | None:
    """The routine of a name; None if there is none.

    Examples
    --------
    >>> routine_named("cholesky.lower.float64").symbol
    'lapack.dpotrf'
    >>> routine_named("cholesky.lower.int8") is None
    True
    """
    family, *arguments = name.split(".")
    try:
        return FAMILIES[family](*arguments)
    except (KeyError, TypeError):
        return None
