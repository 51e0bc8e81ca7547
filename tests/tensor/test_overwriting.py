"""Operations that write over their first input, in graphs that are made with them."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode, get_default_mode
from aesara.graph.utils import InconsistencyError
from aesara.tensor import inplace
from aesara.tensor.blas import Gemm, gemm_inplace
from aesara.tensor.elemwise import Elemwise
from tests.closeness import assert_close

MODES = {"default": get_default_mode(), "native": Mode("llvm", None), "reference": Mode("py", None)}


@pytest.fixture(params=MODES)
def mode(request):
    return MODES[request.param]


def compiled(inputs, outputs, mode):
    return aesara.function(inputs, outputs, mode=mode, accept_inplace=True)


def test_arguments_are_overwritten(mode):
    x = at.dvector("x")
    value = np.array([0.0, 1.0])
    result = compiled([x], inplace.exp_inplace(x), mode)(value)
    assert_close(value, [1.0, np.e])
    assert np.shares_memory(result, value)


def test_parts_of_arguments_are_overwritten(mode):
    x = at.dmatrix("x")
    value = np.array([[1.0, 2.0], [3.0, 4.0]])
    result = compiled([x], inplace.neg_inplace(x.T[1]).sum(), mode)(value)
    assert result == -6 and value.tolist() == [[1.0, -2.0], [3.0, -4.0]]


def test_what_is_read_before_it_is_overwritten(mode):
    x, y = at.dvectors("xy")
    value = np.array([1.0, 2.0])
    results = compiled([x, y], [x + y, inplace.mul_inplace(x, y)], mode)(value, np.array([3.0, 4.0]))
    assert [r.tolist() for r in results] == [[4.0, 6.0], [3.0, 8.0]] and value.tolist() == [3.0, 8.0]


def test_copies_of_functions_overwrite_too():
    x, s = at.dvector("x"), aesara.shared(1.0)
    f = compiled([x], inplace.add_inplace(x, s), MODES["default"]).copy(swap={s: aesara.shared(10.0)})
    value = np.array([1.0])
    f(value)
    assert value.tolist() == [11.0]


def test_other_graphs_leave_arguments_alone():
    x = at.dvector("x")
    f = aesara.function([aesara.In(x, mutable=True)], at.exp(x), accept_inplace=True)
    assert f.maker.overwrites_arguments is False and f._native is not None
    hidden = at.exp(x)
    g = compiled([x], inplace.neg_inplace(hidden), MODES["default"])
    value = np.array([0.0])
    assert g(value).tolist() == [-1.0] and value.tolist() == [0.0] and g._native is not None


@pytest.mark.parametrize(
    "function, first, others, expected",
    [
        (inplace.add_inplace, [1, 2], [0.75], [1, 2]),
        (inplace.exp_inplace, [0, 1], None, [1, 2]),
        (inplace.true_divide_inplace, [5, -5], [0.5, 2.0], [10, -2]),
        (inplace.reciprocal_inplace, [1, 2], None, [1, 0]),
    ],
)
def test_results_are_converted_to_the_dtype_that_is_there(function, first, others, expected, mode):
    n, x = at.lvector("n"), at.dvector("x")
    inputs = [n] if others is None else [n, x]
    value = np.array(first)
    if others is not None:
        others = np.broadcast_to(others, value.shape).copy()
    out = function(*inputs)
    assert out.type.dtype == "int64"
    compiled(inputs, out, mode)(*([value] if others is None else [value, others]))
    assert value.tolist() == expected


def test_elementwise_operations_by_themselves_convert_nothing():
    with pytest.raises(TypeError, match="cannot overwrite input 0 of dtype int64"):
        Elemwise(at.exp.scalar_op, {0: 0})(at.lvector())


@pytest.mark.parametrize("beta", [0.0, 1.0, -2.0])
def test_products_added_to_arguments(beta, mode):
    rng = np.random.default_rng(0)
    z, x, y = (rng.normal(size=shape) for shape in ((2, 4), (2, 3), (3, 4)))
    expected = beta * z + 0.5 * x @ y
    tz, tx, ty = at.dmatrices("zxy")
    result = compiled([tz, tx, ty], gemm_inplace(tz, 0.5, tx, ty, beta), mode)(z, x, y)
    assert_close(z, expected)
    assert np.shares_memory(result, z)


def test_errors_about_products_begin_with_what_the_class_says():
    x, y = at.dmatrices("xy")
    for error, text, arguments in [
        (TypeError, Gemm.E_rank, (x, 1.0, at.dvector(), y, 1.0)),
        (TypeError, Gemm.E_scalar, (x, y, x, y, 1.0)),
        (TypeError, Gemm.E_mixed, (x, 1.0, at.fmatrix(), y, 1.0)),
        (TypeError, Gemm.E_float, (at.lmatrix(), 1, at.lmatrix(), at.lmatrix(), 1)),
        (InconsistencyError, Gemm.E_z_uniq, (x, 1.0, x.T, y, 1.0)),
    ]:
        with pytest.raises(error, match=text):
            gemm_inplace(*arguments)
