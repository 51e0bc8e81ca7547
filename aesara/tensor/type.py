"""Variables by name: `vector`, `dmatrix`, `tensor` and other constructors, under their documented path.

`TensorType` is defined in `core.tensor_type`, dtypes in `core.dtypes`, comparisons of values in
`core.value_comparison`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.configdefaults import config
from aesara.tensor.core.dtypes import (  # noqa: F401 - documented under this path
    all_dtypes,
    complex_dtypes,
    continuous_dtypes,
    discrete_dtypes,
    dtype_specs_map,
    float_dtypes,
    int_dtypes,
    integer_dtypes,
    uint_dtypes,
)
from aesara.tensor.core.tensor_type import (  # noqa: F401 - documented under this path
    DenseTensorType,
    DenseTypeMeta,
    StaticShape,
    TensorType,
    dtype_name,
    tensor_type,
)
from aesara.tensor.core.tensor_type import rebuild_tensor_type as _rebuild_tensor_type  # noqa: F401 - older pickles name it
from aesara.tensor.core.value_comparison import (  # noqa: F401 - documented under this path
    values_eq_approx,
    values_eq_approx_always_true,
    values_eq_approx_remove_inf,
    values_eq_approx_remove_inf_nan,
    values_eq_approx_remove_nan,
)
from aesara.tensor.core.variable import TensorVariable

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

__all__ = [
    "TensorType", "tensor",
    "scalar", "vector", "matrix", "row", "col", "tensor3", "tensor4", "tensor5", "tensor6", "tensor7",
    "bscalar", "wscalar", "iscalar", "lscalar", "fscalar", "dscalar", "cscalar", "zscalar", "ubscalar", "uwscalar",
    "uiscalar", "ulscalar",
    "bvector", "wvector", "ivector", "lvector", "fvector", "dvector", "cvector", "zvector",
    "bmatrix", "wmatrix", "imatrix", "lmatrix", "fmatrix", "dmatrix", "cmatrix", "zmatrix",
    "brow", "wrow", "irow", "lrow", "frow", "drow", "crow", "zrow",
    "bcol", "wcol", "icol", "lcol", "fcol", "dcol", "ccol", "zcol",
    "btensor3", "wtensor3", "itensor3", "ltensor3", "ftensor3", "dtensor3", "ctensor3", "ztensor3",
    "btensor4", "wtensor4", "itensor4", "ltensor4", "ftensor4", "dtensor4", "ctensor4", "ztensor4",
    "btensor5", "wtensor5", "itensor5", "ltensor5", "ftensor5", "dtensor5", "ctensor5", "ztensor5",
    "btensor6", "wtensor6", "itensor6", "ltensor6", "ftensor6", "dtensor6", "ctensor6", "ztensor6",
    "btensor7", "wtensor7", "itensor7", "ltensor7", "ftensor7", "dtensor7", "ctensor7", "ztensor7",
    "scalars", "dscalars", "fscalars", "iscalars", "lscalars",
    "vectors", "dvectors", "fvectors", "ivectors", "lvectors",
    "matrices", "dmatrices", "fmatrices", "imatrices", "lmatrices",
    "rows", "drows", "frows", "irows", "lrows",
    "cols", "dcols", "fcols", "icols", "lcols",
    "tensor3s", "dtensor3s", "ftensor3s", "itensor3s", "ltensor3s",
    "tensor4s", "dtensor4s", "ftensor4s", "itensor4s", "ltensor4s",
    "tensor5s", "dtensor5s", "ftensor5s", "itensor5s", "ltensor5s",
    "tensor6s", "dtensor6s", "ftensor6s", "itensor6s", "ltensor6s",
    "tensor7s", "dtensor7s", "ftensor7s", "itensor7s", "ltensor7s",
    "int_types", "int_scalar_types", "float_types", "float_scalar_types", "complex_types", "complex_scalar_types",
    "int_vector_types", "float_vector_types", "complex_vector_types", "int_matrix_types", "float_matrix_types",
    "complex_matrix_types",
]  # fmt: skip

# The letters that NumPy has for the dtypes of tensors.
_CODES = "?" + np.typecodes["AllInteger"] + np.typecodes["AllFloat"]


def tensor(*args: Any, **kwargs: Any) -> TensorVariable:
    """A new variable with a dtype and a shape.

    Takes the arguments of `TensorType`; `name` is the name of the variable.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.tensor("float64", shape=(2, None), name="x").type
    TensorType(float64, (2, None))
    """
    name = kwargs.pop("name", None)
    if args and "dtype" in kwargs and isinstance(args[0], str):
        # tensor("x", dtype=..., shape=...): older code passes the name first.
        name, args = args[0], args[1:]
    elif args and isinstance(args[0], str) and len(args[0]) == 1 and args[0] not in _CODES:
        raise TypeError(
            f"{args[0]!r} is no dtype of tensors. The first argument of tensor is the dtype: for a variable named "
            f"{args[0]!r} write tensor({args[0]!r}, dtype='float64', shape=...)."
        )
    return TensorType(*args, **kwargs)(name=name)


def _plural(name: str, make: Callable[..., TensorVariable]) -> Callable[..., list[TensorVariable]]:
    """Make several variables at once: from a number, a string of one-letter names, or names."""

    def make_several(*names: Any) -> list[TensorVariable]:
        if len(names) == 1:
            (names_or_count,) = names
            if isinstance(names_or_count, (int, np.integer)):
                return [make() for _ in range(names_or_count)]
            names = tuple(names_or_count)
        return [make(name) for name in names]

    make_several.__name__ = make_several.__qualname__ = name
    make_several.__doc__ = f"Several variables of one type: {name}(3), or with names: {name}('x', 'y') or {name}('xy')."
    return make_several


def _variable(dtype: Any, shape: StaticShape, name: str | None) -> TensorVariable:
    dtype = config.floatX if dtype is None or dtype == "floatX" else dtype
    return tensor_type(dtype_name(dtype), shape)(name)


def scalar(name: str | None = None, dtype: DTypeLike | None = None) -> TensorVariable:
    """A new variable with no dimension; `dtype` is ``config.floatX`` by default."""
    return _variable(dtype, (), name)


def vector(name: str | None = None, dtype: Any = None) -> TensorVariable:
    """A new variable with one dimension; `dtype` is ``config.floatX`` by default."""
    return _variable(dtype, (None,), name)


def matrix(name: str | None = None, dtype: Any = None) -> TensorVariable:
    """A new variable with two dimensions; `dtype` is ``config.floatX`` by default."""
    return _variable(dtype, (None, None), name)


def row(name: str | None = None, dtype: Any = None) -> TensorVariable:
    """A new variable of shape (1, n); `dtype` is ``config.floatX`` by default."""
    return _variable(dtype, (1, None), name)


def col(name: str | None = None, dtype: Any = None) -> TensorVariable:
    """A new variable of shape (n, 1); `dtype` is ``config.floatX`` by default."""
    return _variable(dtype, (None, 1), name)


def tensor3(name: str | None = None, dtype: Any = None) -> TensorVariable:
    """A new variable with three dimensions; `dtype` is ``config.floatX`` by default."""
    return _variable(dtype, (None,) * 3, name)


def tensor4(name: str | None = None, dtype: Any = None) -> TensorVariable:
    """A new variable with four dimensions; `dtype` is ``config.floatX`` by default."""
    return _variable(dtype, (None,) * 4, name)


def tensor5(name: str | None = None, dtype: Any = None) -> TensorVariable:
    """A new variable with five dimensions; `dtype` is ``config.floatX`` by default."""
    return _variable(dtype, (None,) * 5, name)


def tensor6(name: str | None = None, dtype: Any = None) -> TensorVariable:
    """A new variable with six dimensions; `dtype` is ``config.floatX`` by default."""
    return _variable(dtype, (None,) * 6, name)


def tensor7(name: str | None = None, dtype: Any = None) -> TensorVariable:
    """A new variable with seven dimensions; `dtype` is ``config.floatX`` by default."""
    return _variable(dtype, (None,) * 7, name)


# Shorthands with a fixed dtype. The letter says which: b, w, i, l are int8, int16, int32, int64;
# f and d are float32 and float64; c and z are complex64 and complex128.

bscalar = TensorType("int8", ())
wscalar = TensorType("int16", ())
iscalar = TensorType("int32", ())
lscalar = TensorType("int64", ())
fscalar = TensorType("float32", ())
dscalar = TensorType("float64", ())
cscalar = TensorType("complex64", ())
zscalar = TensorType("complex128", ())
ubscalar = TensorType("uint8", ())
uwscalar = TensorType("uint16", ())
uiscalar = TensorType("uint32", ())
ulscalar = TensorType("uint64", ())

bvector = TensorType("int8", (None,))
wvector = TensorType("int16", (None,))
ivector = TensorType("int32", (None,))
lvector = TensorType("int64", (None,))
fvector = TensorType("float32", (None,))
dvector = TensorType("float64", (None,))
cvector = TensorType("complex64", (None,))
zvector = TensorType("complex128", (None,))

bmatrix = TensorType("int8", (None, None))
wmatrix = TensorType("int16", (None, None))
imatrix = TensorType("int32", (None, None))
lmatrix = TensorType("int64", (None, None))
fmatrix = TensorType("float32", (None, None))
dmatrix = TensorType("float64", (None, None))
cmatrix = TensorType("complex64", (None, None))
zmatrix = TensorType("complex128", (None, None))

brow = TensorType("int8", (1, None))
wrow = TensorType("int16", (1, None))
irow = TensorType("int32", (1, None))
lrow = TensorType("int64", (1, None))
frow = TensorType("float32", (1, None))
drow = TensorType("float64", (1, None))
crow = TensorType("complex64", (1, None))
zrow = TensorType("complex128", (1, None))

bcol = TensorType("int8", (None, 1))
wcol = TensorType("int16", (None, 1))
icol = TensorType("int32", (None, 1))
lcol = TensorType("int64", (None, 1))
fcol = TensorType("float32", (None, 1))
dcol = TensorType("float64", (None, 1))
ccol = TensorType("complex64", (None, 1))
zcol = TensorType("complex128", (None, 1))

btensor3 = TensorType("int8", (None, None, None))
wtensor3 = TensorType("int16", (None, None, None))
itensor3 = TensorType("int32", (None, None, None))
ltensor3 = TensorType("int64", (None, None, None))
ftensor3 = TensorType("float32", (None, None, None))
dtensor3 = TensorType("float64", (None, None, None))
ctensor3 = TensorType("complex64", (None, None, None))
ztensor3 = TensorType("complex128", (None, None, None))

btensor4 = TensorType("int8", (None, None, None, None))
wtensor4 = TensorType("int16", (None, None, None, None))
itensor4 = TensorType("int32", (None, None, None, None))
ltensor4 = TensorType("int64", (None, None, None, None))
ftensor4 = TensorType("float32", (None, None, None, None))
dtensor4 = TensorType("float64", (None, None, None, None))
ctensor4 = TensorType("complex64", (None, None, None, None))
ztensor4 = TensorType("complex128", (None, None, None, None))

btensor5 = TensorType("int8", (None, None, None, None, None))
wtensor5 = TensorType("int16", (None, None, None, None, None))
itensor5 = TensorType("int32", (None, None, None, None, None))
ltensor5 = TensorType("int64", (None, None, None, None, None))
ftensor5 = TensorType("float32", (None, None, None, None, None))
dtensor5 = TensorType("float64", (None, None, None, None, None))
ctensor5 = TensorType("complex64", (None, None, None, None, None))
ztensor5 = TensorType("complex128", (None, None, None, None, None))

btensor6 = TensorType("int8", (None, None, None, None, None, None))
wtensor6 = TensorType("int16", (None, None, None, None, None, None))
itensor6 = TensorType("int32", (None, None, None, None, None, None))
ltensor6 = TensorType("int64", (None, None, None, None, None, None))
ftensor6 = TensorType("float32", (None, None, None, None, None, None))
dtensor6 = TensorType("float64", (None, None, None, None, None, None))
ctensor6 = TensorType("complex64", (None, None, None, None, None, None))
ztensor6 = TensorType("complex128", (None, None, None, None, None, None))

btensor7 = TensorType("int8", (None, None, None, None, None, None, None))
wtensor7 = TensorType("int16", (None, None, None, None, None, None, None))
itensor7 = TensorType("int32", (None, None, None, None, None, None, None))
ltensor7 = TensorType("int64", (None, None, None, None, None, None, None))
ftensor7 = TensorType("float32", (None, None, None, None, None, None, None))
dtensor7 = TensorType("float64", (None, None, None, None, None, None, None))
ctensor7 = TensorType("complex64", (None, None, None, None, None, None, None))
ztensor7 = TensorType("complex128", (None, None, None, None, None, None, None))

scalars = _plural("scalars", scalar)
dscalars = _plural("dscalars", dscalar)
fscalars = _plural("fscalars", fscalar)
iscalars = _plural("iscalars", iscalar)
lscalars = _plural("lscalars", lscalar)
vectors = _plural("vectors", vector)
dvectors = _plural("dvectors", dvector)
fvectors = _plural("fvectors", fvector)
ivectors = _plural("ivectors", ivector)
lvectors = _plural("lvectors", lvector)
matrices = _plural("matrices", matrix)
dmatrices = _plural("dmatrices", dmatrix)
fmatrices = _plural("fmatrices", fmatrix)
imatrices = _plural("imatrices", imatrix)
lmatrices = _plural("lmatrices", lmatrix)
rows = _plural("rows", row)
drows = _plural("drows", drow)
frows = _plural("frows", frow)
irows = _plural("irows", irow)
lrows = _plural("lrows", lrow)
cols = _plural("cols", col)
dcols = _plural("dcols", dcol)
fcols = _plural("fcols", fcol)
icols = _plural("icols", icol)
lcols = _plural("lcols", lcol)
tensor3s = _plural("tensor3s", tensor3)
dtensor3s = _plural("dtensor3s", dtensor3)
ftensor3s = _plural("ftensor3s", ftensor3)
itensor3s = _plural("itensor3s", itensor3)
ltensor3s = _plural("ltensor3s", ltensor3)
tensor4s = _plural("tensor4s", tensor4)
dtensor4s = _plural("dtensor4s", dtensor4)
ftensor4s = _plural("ftensor4s", ftensor4)
itensor4s = _plural("itensor4s", itensor4)
ltensor4s = _plural("ltensor4s", ltensor4)
tensor5s = _plural("tensor5s", tensor5)
dtensor5s = _plural("dtensor5s", dtensor5)
ftensor5s = _plural("ftensor5s", ftensor5)
itensor5s = _plural("itensor5s", itensor5)
ltensor5s = _plural("ltensor5s", ltensor5)
tensor6s = _plural("tensor6s", tensor6)
dtensor6s = _plural("dtensor6s", dtensor6)
ftensor6s = _plural("ftensor6s", ftensor6)
itensor6s = _plural("itensor6s", itensor6)
ltensor6s = _plural("ltensor6s", ltensor6)
tensor7s = _plural("tensor7s", tensor7)
dtensor7s = _plural("dtensor7s", dtensor7)
ftensor7s = _plural("ftensor7s", ftensor7)
itensor7s = _plural("itensor7s", itensor7)
ltensor7s = _plural("ltensor7s", ltensor7)

int_types = int_scalar_types = (bscalar, wscalar, iscalar, lscalar)
float_types = float_scalar_types = (fscalar, dscalar)
complex_types = complex_scalar_types = (cscalar, zscalar)
int_vector_types = (bvector, wvector, ivector, lvector)
float_vector_types = (fvector, dvector)
complex_vector_types = (cvector, zvector)
int_matrix_types = (bmatrix, wmatrix, imatrix, lmatrix)
float_matrix_types = (fmatrix, dmatrix)
complex_matrix_types = (cmatrix, zmatrix)
