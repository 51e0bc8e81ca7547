"""Tables of pandas in expressions, and as values of shared variables."""

import operator

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara import sparse

pandas = pytest.importorskip("pandas")

COLUMN = pandas.Series([1.0, 2.0, 4.0], index=list("abc"), name="column")
TABLE = pandas.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 6.0]})
VECTOR = np.array([3.0, 5.0, 7.0])

x, m, s = at.dvector("x"), at.dmatrix("m"), at.dscalar("s")

ARITHMETIC = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "le", "gt", "ge"]


@pytest.mark.parametrize("name", ARITHMETIC)
@pytest.mark.parametrize("reflected", [False, True])
@pytest.mark.parametrize("kind", ["series", "index", "frame"])
def test_operators(name, reflected, kind):
    table = {"series": COLUMN, "index": pandas.Index(COLUMN.to_numpy()), "frame": TABLE}[kind]
    variable, value = (m, np.array([[2.0, 3.0], [0.5, 1.0], [2.0, 2.0]])) if kind == "frame" else (x, VECTOR)
    function = getattr(operator, name)
    swapped = (lambda a, b: function(b, a)) if reflected else function
    expression = swapped(table, variable)
    assert isinstance(expression, at.TensorVariable)
    np.testing.assert_allclose(expression.eval({variable: value}), swapped(table.to_numpy(), value), rtol=1e-14)


def test_other_variables_and_functions():
    assert (COLUMN * s).eval({s: 2.0}).tolist() == [2, 4, 8]
    assert (COLUMN * aesara.shared(VECTOR)).eval().tolist() == [3, 10, 28]
    assert (COLUMN * at.constant(VECTOR)).eval().tolist() == [3, 10, 28]
    assert np.multiply(COLUMN, x).eval({x: VECTOR}).tolist() == [3, 10, 28]
    c = sparse.csc_matrix("c")
    assert isinstance(TABLE * c, sparse.SparseVariable)
    with pytest.raises(TypeError, match="x of type"):
        TABLE @ x


@pytest.mark.parametrize("value", [TABLE, COLUMN, pandas.Index([1, 2]), COLUMN > 1, COLUMN.astype("Int64")])
def test_shared_variables_of_tables(value):
    array = value.to_numpy()
    shared = aesara.shared(value, name="table")
    assert shared.name == "table" and shared.type == at.TensorType(array.dtype, (None,) * array.ndim)
    np.testing.assert_array_equal(shared.get_value(), array)
    assert aesara.shared(value, shape=array.shape).type.shape == array.shape


@pytest.mark.parametrize("borrow", [False, True])
def test_updates_leave_the_table_as_it_is(borrow):
    table = TABLE.copy()
    shared = aesara.shared(table, borrow=borrow)
    aesara.function([], updates={shared: shared + 1})()
    np.testing.assert_array_equal(shared.get_value(), TABLE.to_numpy() + 1)
    if not borrow:
        pandas.testing.assert_frame_equal(table, TABLE)
    shared.set_value(TABLE)
    np.testing.assert_array_equal(shared.get_value(), TABLE.to_numpy())


@pytest.mark.parametrize("value", [pandas.Series(list("ab")), TABLE.assign(c=list("abc"))])
def test_tables_of_other_things_are_refused(value):
    with pytest.raises(TypeError, match=r"the (Series|DataFrame) has the dtype object.*\.to_numpy\(dtype='float64'\)"):
        aesara.shared(value)
