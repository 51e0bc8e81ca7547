"""Python integers beside uint64: they take this dtype where they fit and the result is to be an integer."""

import operator

import numpy as np
import pytest

import aesara
import aesara.scalar as aes
import aesara.tensor as at
from aesara.tensor.inplace import add_inplace

MODES = ["FAST_RUN", "FAST_COMPILE"]
U = np.array([2**63 + 5, 2**53 + 1, 7, 0, 2**64 - 1], dtype="uint64")
SMALL = np.array([0, 3, 1, 2, 5], dtype="uint64")

#: functions of a tensor, or an array
EXPRESSIONS = {
    "u + 1": lambda u, xp: u + 1,
    "1 + u": lambda u, xp: 1 + u,
    "u - 1": lambda u, xp: u - 1,
    "2**64 - 1 - u": lambda u, xp: 2**64 - 1 - u,
    "u * 3": lambda u, xp: u * 3,
    "3 * u": lambda u, xp: 3 * u,
    "u // 3": lambda u, xp: u // 3,
    "u % 3": lambda u, xp: u % 3,
    "u % 2**63": lambda u, xp: u % 2**63,
    "100 // (u | 1)": lambda u, xp: 100 // (u | 1),
    "100 % (u | 1)": lambda u, xp: 100 % (u | 1),
    "divmod": lambda u, xp: divmod(u, 10)[0] + divmod(u, 10)[1],
    "u ** 2": lambda u, xp: u**2,
    "3 ** u": lambda u, xp: 3 ** (u & 31),
    "u & 12": lambda u, xp: u & 12,
    "12 | u": lambda u, xp: 12 | u,
    "u ^ 5": lambda u, xp: u ^ 5,
    "u << 3": lambda u, xp: u << 3,
    "u >> 3": lambda u, xp: u >> 3,
    "1 << u": lambda u, xp: 1 << (u & 31),
    "maximum": lambda u, xp: xp.maximum(u, 8),
    "minimum": lambda u, xp: xp.minimum(8, u),
    "fmax": lambda u, xp: xp.fmax(u, 8),
    "fmod": lambda u, xp: xp.fmod(u, 8),
    "remainder": lambda u, xp: xp.remainder(u, 8),
    "floor_divide": lambda u, xp: xp.floor_divide(u, 8),
    "clip": lambda u, xp: xp.clip(u, 5, 2**63),
    "where": lambda u, xp: xp.where(u > 7, u, 9),
    "where, first": lambda u, xp: xp.where(u > 7, 9, u),
    "u > 2**63": lambda u, xp: u > 2**63,
    "u <= 7": lambda u, xp: u <= 7,
    "several": lambda u, xp: (u * 3 + 1) % 7 - 2 + 2 * (u + 1) * 4,
    "u + u - u": lambda u, xp: 2 * u + 1 - u - 1,
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_literals_keep_unsigned_dtypes(name, mode):
    expression = EXPRESSIONS[name]
    u = at.tensor("uint64", shape=(None,))
    with np.errstate(over="ignore"):
        expected = expression(U, np)
    found = aesara.function([u], expression(u, at), mode=mode)(U)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "floordiv", "mod", "pow"])
def test_other_literals_keep_the_dtypes_of_the_cast_policy(name):
    function, u = getattr(operator, name), at.tensor("uint64", shape=(None,))
    for other in (-1, -(2**40), 1.0, np.int64(3), np.int8(3), np.array(3), at.constant(3), 1.5, at.lscalar()):
        assert function(u, other).dtype == function(other, u).dtype == "float64"
    for other in (np.uint64(3), np.uint8(3), np.uint16(3)):
        assert function(u, other).dtype == function(other, u).dtype == "uint64"
    for dtype, wider in [("int8", "int16"), ("uint8", "int16"), ("uint32", "int64"), ("int64", "int64")]:
        x = at.tensor(dtype, shape=(None,))
        assert function(x, 3).dtype == (dtype if dtype.startswith("int") else wider)
        assert function(x, 300).dtype == (wider if dtype != "uint8" else "int16")


def test_quotients_are_floats():
    u = at.tensor("uint64", shape=(None,))
    assert (u / 3).dtype == (3 / u).dtype == "float64"


def test_operations_of_bits_take_no_literal_that_does_not_fit():
    u = at.tensor("uint64", shape=(None,))
    for function in (operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift):
        for other in (-1, np.int64(3)):
            with pytest.raises(TypeError):
                function(u, other)


@pytest.mark.parametrize("policy", ["custom", "numpy+floatX"])
def test_under_each_cast_policy(policy):
    u = at.tensor("uint64", shape=(None,))
    with aesara.config.change_flags(cast_policy=policy):
        assert (u % 3).dtype == (3 - u).dtype == at.maximum(u, 3).dtype == "uint64"
        assert (u + (-1)).dtype == "float64"


def test_literals_keep_unsigned_dtypes_of_scalars():
    u = aes.uint64("u")
    results = [u % 3, u + 1, 1 + u, u // 3, u - 1, aes.scalar_maximum(u, 3), u & 3, 3 | u, aes.switch(u > 3, u, 3)]
    assert {result.type.dtype for result in results} == {"uint64"}
    assert (u + (-1)).type.dtype == "float64"
    x = at.scalar(dtype="uint64")
    assert (x + 1).dtype == "uint64"


@pytest.mark.parametrize("mode", MODES)
def test_in_place_and_writes(mode):
    u = at.tensor("uint64", shape=(None,))
    outputs = [add_inplace(u + 1, 2), at.set_subtensor(u[0], 2**63 + 1), at.inc_subtensor(u[:2], 3)]
    added, written, increased = aesara.function([u], outputs, mode=mode, accept_inplace=True)(U)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(added, U + 3)
        np.testing.assert_array_equal(written, [2**63 + 1, *U[1:].tolist()])
        np.testing.assert_array_equal(increased, np.concatenate([U[:2] + 3, U[2:]]))


@pytest.mark.parametrize("mode", MODES)
def test_a_generator_of_congruences_in_a_scan(mode):
    state = at.scalar(dtype="uint64")
    states, _ = aesara.scan(lambda s: s * 6364136223846793005 + 1442695040888963407, outputs_info=state, n_steps=5)
    found = aesara.function([state], states >> 33, mode=mode)(np.uint64(42))
    expected, s = [], 42
    for _ in range(5):
        s = (s * 6364136223846793005 + 1442695040888963407) % 2**64
        expected.append(s >> 33)
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == "uint64"
