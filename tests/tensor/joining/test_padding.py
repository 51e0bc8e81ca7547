"""Padding by all modes of NumPy."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from tests.closeness import assert_close
from tests.tensor.against_numpy import compare, drawn

MODES = [
    ("constant", {}),
    ("constant", {"constant_values": 3}),
    ("constant", {"constant_values": (1, 2)}),
    ("edge", {}),
    ("wrap", {}),
    ("reflect", {}),
    ("reflect", {"reflect_type": "odd"}),
    ("symmetric", {}),
    ("symmetric", {"reflect_type": "odd"}),
    ("linear_ramp", {}),
    ("linear_ramp", {"end_values": (-3, 4)}),
    ("maximum", {}),
    ("maximum", {"stat_length": 2}),
    ("minimum", {"stat_length": (1, 9)}),
    ("mean", {}),
    ("mean", {"stat_length": (1, 3)}),
    ("median", {}),
    ("median", {"stat_length": 2}),
]
IDS = [f"{mode}-{options}" for mode, options in MODES]


@pytest.mark.parametrize("mode, options", MODES, ids=IDS)
@pytest.mark.parametrize(
    "shape, width",
    [((4,), 2), ((4,), (1, 3)), ((1,), 3), ((2,), 9), ((3, 4), ((1, 0), (0, 3))), ((3, 4), ((5, 7),)), ((2, 1, 3), 1)],
)
def test_against_numpy(mode, options, shape, width):
    compare(
        lambda x: at.pad(x, width, mode, **options),
        lambda x: np.pad(x, width, mode, **options),
        *drawn("float64", shape),
        python=("SortOp", "ArgSortOp"),
        gradient=np.prod(shape) < 7,
    )


@pytest.mark.parametrize("mode, options", MODES, ids=IDS)
@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8"])
def test_dtypes(mode, options, dtype):
    (x,) = drawn("float64", (5,))
    x = np.abs(x * 10).astype(dtype)
    if "end_values" in options or options.get("reflect_type") == "odd":
        # Where numbers become negative NumPy and C disagree about what is unsigned.
        x = x.astype(np.result_type(dtype, "int8"))
    compare(
        lambda x: at.pad(x, (2, 3), mode, **options),
        lambda x: np.pad(x, (2, 3), mode, **options),
        x,
        python=("SortOp",),
        unknown=False,
    )


@pytest.mark.parametrize("mode", sorted({mode for mode, _ in MODES}))
def test_symbolic_widths(mode):
    x, n = at.dmatrix("x"), at.lscalar("n")
    f = aesara.function([x, n], at.pad(x, ((n, 2), (n + 1, n)), mode))
    (value,) = drawn("float64", (3, 4))
    for width in (0, 2):
        assert_close(f(value, width), np.pad(value, ((width, 2), (width + 1, width)), mode))


def test_forms_of_widths():
    x = at.tensor("float64", (3, 4))
    assert at.pad(x, 2).type.shape == (7, 8)
    assert at.pad(x, (1, 2)).type.shape == (6, 7)
    assert at.pad(x, [[1, 2], [3, 4]]).type.shape == (6, 11)
    assert at.pad(x, {0: (1, 2), -1: 3}).type.shape == (6, 10)
    assert at.pad(x, np.array([[1], [2]])).type.shape in ((5, 8), (6, 7))
    assert at.pad(x, at.constant(1)).type.shape == (5, 6)
    assert at.pad(at.scalar("s"), 3).type.shape == ()


def test_empty():
    x = at.dvector("x")
    got = at.pad(x, (1, 2), "empty").eval({x: [1.0, 2.0]})
    np.testing.assert_array_equal(got[1:3], [1, 2])
    assert got.shape == (5,)
    np.testing.assert_array_equal(at.pad(x, 2).eval({x: []}), np.zeros(4))


def test_errors():
    x = at.tensor("float64", (3, 4))
    with pytest.raises(ValueError, match="mode 'mirror'"):
        at.pad(x, 1, "mirror")
    with pytest.raises(ValueError, match="unsupported keyword"):
        at.pad(x, 1, "edge", constant_values=1)
    with pytest.raises(ValueError, match="negative"):
        at.pad(x, -1)
    with pytest.raises(ValueError, match="pair for each of 2"):
        at.pad(x, ((1, 1), (1, 1), (1, 1)))
    with pytest.raises(TypeError, match="hold integers"):
        at.pad(x, 1.5)
    with pytest.raises(ValueError, match="empty axis 0"):
        at.pad(at.tensor("float64", (0, 2)), 1, "edge")
    with pytest.raises(ValueError, match="reflect_type"):
        at.pad(x, 1, "reflect", reflect_type="strange")
    with pytest.raises(ValueError, match="stat_length must be positive"):
        at.pad(x, 1, "mean", stat_length=0)
    with pytest.raises(np.exceptions.AxisError):
        at.pad(x, {2: 1})


def test_widths_and_values_in_vectors():
    x = at.dmatrix("x")
    (value,) = drawn("float64", (3, 4))
    widths, values = np.array([[1, 2], [0, 3]]), np.array([1.0, 2.0])
    for mode, options in (("constant", {"constant_values": at.constant(values)}), ("edge", {}), ("reflect", {})):
        built = at.pad(x, at.constant(widths), mode, **options)
        expected = np.pad(value, widths, mode, **({"constant_values": values} if options else {}))
        assert_close(built.eval({x: value}), expected)
        # Where nothing is added, nothing is done.
        assert_close(at.pad(x, ((0, 0), (1, 0)), mode).eval({x: value}), np.pad(value, ((0, 0), (1, 0)), mode))
    with pytest.raises(ValueError, match="length of pad_width must be known"):
        at.pad(x, at.lvector())
    with pytest.raises(TypeError, match="constant_values must be a number, a pair, or a list of pairs; got a dict"):
        at.pad(x, 1, constant_values={0: 1.0})
