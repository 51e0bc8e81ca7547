"""Random streams of the generator MRG31k3p: the same numbers as those of Aesara 2.9.4 for the same seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.configdefaults import config
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.databases import optdb
from aesara.graph.shared import shared
from aesara.scalar.mrg31k3p import M1, M2, jump, powers, spread
from aesara.scalar.types import upcast
from aesara.tensor.core.casting import cast
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.expression_op import ExpressionOp
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.core.vector_length import get_vector_length
from aesara.tensor.derivatives.gradient_operators import undefined_grad
from aesara.tensor.elementwise.ops import cos, eq, log, sin, sqrt
from aesara.tensor.joining.join_split import join
from aesara.tensor.random import from_uniform
from aesara.tensor.random.mrg_uniform import SCALES, mrg_uniform, mrg_uniform_base
from aesara.tensor.reductions.sum_prod_max import prod
from aesara.tensor.rewriting.inplace import InplaceWriter
from aesara.tensor.shapes.reshape import reshape
from aesara.user_code import warn_user

if TYPE_CHECKING:
    from aesara.graph.fg import FunctionGraph

__all__ = [
    "A1p72", "A1p134", "A2p72", "A2p134", "DotModulo", "M1", "M2", "SCALES", "MRG_RandomStream", "ff_2p72", "ff_2p134",
    "guess_n_streams", "matVecModM", "mrg_random_make_inplace", "mrg_uniform", "mrg_uniform_base",
]  # fmt: skip

#: The matrices of the distances between the streams of one draw, and between those of different draws.
A1p72, A2p72 = powers(2**72)
A1p134, A2p134 = powers(2**134)


def ff_2p72(rstate: object) -> np.ndarray:
    """The state after 2**72 steps."""
    return jump(np.asarray(rstate), 2**72).astype("int32")


def ff_2p134(rstate: object) -> np.ndarray:
    """The state after 2**134 steps."""
    return jump(np.asarray(rstate), 2**134).astype("int32")


def guess_n_streams(size: object, warn: bool = False) -> int:
    """Return the number of streams of a draw of this size: a sixth of its elements, and at most 15,360.

    Examples
    --------
    >>> guess_n_streams((3,)), guess_n_streams((100,)), guess_n_streams((1000, 1000))
    (3, 16, 15360)
    """
    if isinstance(size, (tuple, list)) and all(isinstance(n, (int, np.integer)) for n in size):
        count = int(np.prod(size, dtype=np.int64))
        return min(count // 6 if count > 6 else count, 60 * 256)
    if warn:
        message = f"The size {size} is not known yet: 15360 streams are taken. Use `nstreams` to say how many."
        warn_user(message)
    return 60 * 256


def matVecModM(A: np.ndarray, s: np.ndarray, m: Any) -> np.ndarray:
    """Return the product of an int64 matrix with a vector, modulo a number, as int32.

    Examples
    --------
    >>> matVecModM(np.array([[1, 2], [3, 4]]), np.array([5, 6]), 10)
    array([7, 9], dtype=int32)
    """
    # Products are reduced before the sum, which could overflow.
    reduced = A * np.asarray(s).astype("int64") % np.int64(m)
    return (reduced.sum(axis=1) % np.int64(m)).astype("int32")


class DotModulo(ExpressionOp):
    """Return the concatenation of ``A1 s1 mod m1`` and ``A2 s2 mod m2``.

    Matrices are of int64, vectors and moduli of int32; products of their entries must fit into int64.

    Examples
    --------
    >>> rows = np.array([[1, 2], [3, 4]])
    >>> s = np.array([5, 6], dtype="int32")
    >>> DotModulo()(rows, s, np.int32(10), rows, s, np.int32(7)).eval()
    array([7, 9, 3, 4], dtype=int32)
    """

    __props__ = ()

    def make_node(self, A: object, s: object, m: object, A2: object, s2: object, m2: object) -> Apply:
        given = [as_tensor_variable(x) for x in (A, s, m, A2, s2, m2)]
        for name, x, dtype, ndim in zip(
            ("A", "s", "m", "A2", "s2", "m2"), given, ("int64", "int32", "int32") * 2, (2, 1, 0) * 2, strict=True
        ):
            if x.type.dtype != dtype or x.type.ndim != ndim:
                raise TypeError(f"{self}: {name} has {ndim} dimensions and the dtype {dtype}; got {x.type}.")
        first, second = given[0].type.shape[0], given[3].type.shape[0]
        length = None if first is None or second is None else first + second
        return Apply(self, given, [TensorType("int32", (length,))()])

    def expression(self, *inputs: TensorVariable) -> TensorVariable:
        products = []
        for matrix, vector, modulus in (inputs[:3], inputs[3:]):
            vector = CheckAndRaise(ValueError, self._wrong_length())(vector, eq(vector.shape[0], matrix.shape[1]))
            products.append((matrix * cast(vector, "int64") % modulus).sum(axis=1) % modulus)
        return cast(join(0, *products), "int32")

    def perform(self, node, inputs, output_storage, params=None):
        parts = []
        for matrix, vector, modulus in (inputs[:3], inputs[3:]):
            if matrix.shape[1] != len(vector):
                raise ValueError(self._wrong_length())
            parts.append(matVecModM(matrix, vector, modulus))
        output_storage[0][0] = np.concatenate(parts)

    def _wrong_length(self) -> str:
        return f"{self}: a vector must be as long as the rows of its matrix."

    def infer_shape(self, fgraph, node, shapes):
        return [(shapes[0][0] + shapes[3][0],)]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False] for _ in node.inputs]


def _check_size(size: object) -> Any:
    """The size of a draw; raises an error if it is none."""
    if isinstance(size, Variable):
        if size.type.ndim == 1:
            return size
    elif isinstance(size, tuple):
        if not all(isinstance(n, (int, np.integer, Variable)) for n in size):
            raise TypeError(f"size must be a tuple of int or an Aesara variable, got {size}.")
        if any(isinstance(n, (int, np.integer)) and n <= 0 for n in size):
            raise ValueError("The specified size contains a dimension with value <= 0", size)
        return size
    raise TypeError(
        f"size must be a tuple of int or an Aesara Variable with 1 dimension, got {size} of type {type(size)}"
    )


class MRG_RandomStream:
    """A stream of draws by the generator MRG31k3p, which are new in each call of a function.

    Parameters
    ----------
    seed
        An integer below 2147462579, not 0; or six of them, neither the first nor the last three all 0.

    Examples
    --------
    >>> import aesara
    >>> stream = MRG_RandomStream(seed=12345)
    >>> f = aesara.function([], stream.uniform((3,)))
    >>> f().round(6).tolist(), f().round(6).tolist()
    ([0.735324, 0.258569, 0.694081], [0.614207, 0.948998, 0.180468])
    """

    def __init__(self, seed: int | Sequence[int] = 12345):
        self.default_instance_seed = seed
        #: For each draw: the shared variable of its states, their next value, the size, and the number of streams.
        self.state_updates: list[tuple[Any, Variable, Any, int | None]] = []
        self.set_rstate(seed)

    def updates(self) -> list[tuple[Any, Variable, Any, int | None]]:
        """Return a copy of `state_updates`."""
        return list(self.state_updates)

    def set_rstate(self, seed: int | Sequence[int]) -> None:
        """Start again from a seed."""
        if isinstance(seed, (int, np.integer)):
            if seed == 0:
                raise ValueError("seed should not be 0", seed)
            if seed >= M2:
                raise ValueError(f"seed should be less than {M2}", seed)
            self.rstate = np.asarray([seed] * 6, dtype="int32")
            return
        if isinstance(seed, str) or not hasattr(seed, "__len__") or len(seed) != 6:
            raise TypeError("seed should be 1 integer or 6 integers")
        for which, part, limit in (("first", seed[:3], M1), ("last", seed[3:], M2)):
            if not any(part):
                raise ValueError(f"The {which} 3 values of seed should not be all 0", seed)
            if any(value >= limit for value in part):
                raise ValueError(f"The {which} 3 values of seed should be less than {limit}", seed)
        self.rstate = np.asarray(seed, dtype="int32")

    def seed(self, seed: int | Sequence[int] | None = None) -> None:
        """Seed all existing draws again, in the order in which they were created.

        Parameters
        ----------
        seed
            As for the class; by default the one that was given last.
        """
        self.set_rstate(self.default_instance_seed if seed is None else seed)
        for states, _, size, nstreams in self.state_updates:
            count = self.n_streams(size) if nstreams is None else nstreams
            states.set_value(self.get_substream_rstates(count, states.type.dtype))

    def inc_rstate(self) -> None:
        """Go on by 2**134 steps."""
        self.rstate = ff_2p134(self.rstate)

    def get_substream_rstates(self, n_streams: int, dtype: str, inc_rstate: bool = True) -> np.ndarray:
        """Return the states, of shape (n_streams, 6), of streams that are 2**72 steps apart.

        Parameters
        ----------
        n_streams
            How many.
        dtype
            Of the numbers that are drawn; it makes no difference.
        inc_rstate
            Whether the next call gives others.
        """
        if n_streams <= 0:
            raise ValueError(f"There must be at least one stream, not {n_streams}.")
        states = spread(self.rstate, 2**72, n_streams).astype("int32")
        if inc_rstate:
            self.inc_rstate()
        return states

    def n_streams(self, size: object) -> int:
        """Return the number of streams of a draw of this size."""
        return guess_n_streams(size)

    def pretty_return(self, node_rstate: Any, new_rstate: Variable, sample: Any, size: Any, nstreams: Any) -> Any:
        """The draw, once its states are known to be updated."""
        self.state_updates.append((node_rstate, new_rstate, size, nstreams))
        node_rstate.default_update = new_rstate
        sample.rstate = node_rstate
        sample.update = (node_rstate, new_rstate)
        return sample

    def uniform(
        self, size: Any, low: Any = 0.0, high: Any = 1.0, ndim: int | None = None, dtype: str | None = None,
        nstreams: int | None = None, **kwargs: object,
    ) -> Any:  # fmt: skip
        """Draw uniform numbers between `low` and `high`, both excluded.

        Parameters
        ----------
        size
            A tuple of integers, which may be variables, or a vector of integers.
        low, high
            The bounds, broadcast to the size.
        ndim
            The number of dimensions, where `size` is a vector of unknown length.
        dtype
            float16, float32 or float64; by default the largest of ``config.floatX`` and those of the bounds.
        nstreams
            How many streams the draw is made of; other numbers come of it.
        """
        _no_others("uniform", kwargs)
        (low, high), dtype = _parameters(dtype, low, high)
        size = _check_size(size)
        count = self.n_streams(size) if nstreams is None else nstreams
        states = shared(self.get_substream_rstates(count, dtype))
        new_states, sample = mrg_uniform.new(states, ndim, dtype, size)
        return self.pretty_return(states, new_states, sample, size, nstreams) * (high - low) + low

    def normal(
        self, size: object, avg: object = 0.0, std: object = 1.0, ndim: int | None = None, dtype: str | None = None,
        nstreams: int | None = None, truncate: bool = False, **kwargs: object,
    ) -> Any:  # fmt: skip
        """Draw from the normal distribution by the transform of Box and Muller.

        Parameters
        ----------
        size, ndim, dtype, nstreams
            As for `uniform`.
        avg, std
            Mean and standard deviation, broadcast to the size.
        truncate
            Whether numbers more than two standard deviations from the mean are drawn again.
        """
        _no_others("normal", kwargs)
        shape = _check_size(size)
        (avg, std), dtype = _parameters(dtype, avg, std)
        count = as_tensor_variable(prod(as_tensor_variable(shape), dtype="int64"))
        flat = self.uniform((count + count % 2,), dtype=dtype, nstreams=nstreams)
        half = flat.shape[0] // 2
        first, angle = flat[:half], np.array(2.0 * np.pi, dtype=dtype) * flat[half:]
        radius = sqrt(np.array(-2.0, dtype=dtype) * log(first))
        pair = [radius * cos(angle), radius * sin(angle)]
        if truncate:
            pair = self._truncate(pair, angle, dtype, nstreams)
        given = ndim if ndim is not None else get_vector_length(as_tensor_variable(shape))
        return avg + std * reshape(join(0, *pair)[:count], shape, ndim=given)

    def _truncate(self, pair: list[Any], angle: Any, dtype: str, nstreams: int | None) -> list[Any]:
        """Return the numbers within [-2, 2], then new ones for the others: of the same angles, with another radius."""
        beyond = [(z < -2.0) | (z > 2.0) for z in pair]
        places = [b.nonzero()[0] for b in beyond]
        count = places[0].size + places[1].size
        lowest = np.array(np.exp(-2.0), dtype=dtype)  # a radius of 2
        radius = sqrt(np.array(-2.0, dtype=dtype) * log(self.uniform((count,), lowest, 1.0, 1, dtype, nstreams)))
        split = places[0].size
        again = [radius[:split] * cos(angle[places[0]]), radius[split:] * sin(angle[places[1]])]
        return [part for z, b, new in zip(pair, beyond, again) for part in (z[(~b).nonzero()[0]], new)]

    def truncated_normal(
        self, size: object, avg: object = 0.0, std: object = 1.0, ndim: int | None = None, dtype: str | None = None,
        nstreams: int | None = None, **kwargs: object,
    ) -> Any:  # fmt: skip
        """Draw from a truncated normal distribution with the given mean and standard deviation.

        They are at most 2 / 0.88 standard deviations from the mean: 0.88 is the standard deviation of the standard
        normal distribution between -2 and 2. Parameters are those of `normal`.
        """
        _no_others("truncated_normal", kwargs)
        (avg, std), dtype = _parameters(dtype, avg, std)
        wider = std / np.array(_STD_OF_TRUNCATED, dtype=dtype)
        return self.normal(size, avg, wider, ndim, dtype, nstreams, truncate=True)

    def binomial(
        self, size: object = None, n: int = 1, p: object = 0.5, ndim: int | None = None, dtype: str = "int64",
        nstreams: int | None = None, **kwargs: object,
    ) -> Any:  # fmt: skip
        """Draw 1 with probability `p`, else 0.

        Parameters
        ----------
        size, ndim, nstreams
            As for `uniform`.
        n
            The number of trials, which must be 1.
        """
        _no_others("binomial", kwargs)
        if n != 1:
            raise NotImplementedError("MRG_RandomStream.binomial with n > 1")
        p = undefined_grad(as_tensor_variable(p))
        return cast(self.uniform(size, ndim=ndim, nstreams=nstreams) < p, dtype)

    def multinomial(
        self, size: object = None, n: int = 1, pvals: object = None, ndim: int | None = None, dtype: str = "int64",
        nstreams: int | None = None, **kwargs: object,
    ) -> Any:  # fmt: skip
        """Draw `n` times from each row of `pvals`; return the counts of the categories.

        Parameters
        ----------
        size
            Must be None: the size is that of `pvals`.
        pvals
            A matrix whose rows are the probabilities of categories.
        """
        _no_others("multinomial", kwargs)
        pvals, unis = self._for_rows("multinomial", size, n, pvals, nstreams)
        return from_uniform.MultinomialFromUniform(dtype)(pvals, unis, n)

    def choice(
        self, size: object = 1, a: object = None, replace: bool = True, p: object = None, ndim: int | None = None,
        dtype: str = "int64", nstreams: int | None = None, **kwargs: object,
    ) -> Any:  # fmt: skip
        """Draw `size` categories without replacement from each row of `p`.

        Parameters
        ----------
        size
            How many are drawn: an integer.
        a
            Must be None.
        replace
            Must be False.
        p
            A matrix whose rows are the probabilities of categories.
        """
        _no_others("choice", kwargs)
        if replace:
            raise NotImplementedError("MRG_RandomStream.choice only works without replacement for now.")
        if a is not None:
            raise TypeError("For now, a has to be None in MRG_RandomStream.choice: what is drawn are columns of p.")
        p, unis = self._for_rows("choice", None, size, p, nstreams)
        return from_uniform.ChoiceFromUniform(dtype)(p, unis, size)

    def multinomial_wo_replacement(
        self, size: object = None, n: int = 1, pvals: object = None, ndim: int | None = None, dtype: str = "int64",
        nstreams: int | None = None, **kwargs: object,
    ) -> Any:  # fmt: skip
        """`choice` without replacement, under the name that it had before."""
        message = "multinomial_wo_replacement is deprecated: use `choice` with replace=False."
        warn_user(message, DeprecationWarning)
        if size is not None:
            raise ValueError("multinomial_wo_replacement takes no `size`: `n` says how many are drawn.")
        return self.choice(n, None, False, pvals, ndim, dtype, nstreams, **kwargs)

    def _for_rows(self, name: str, size: object, n: Any, pvals: Any, nstreams: int | None) -> tuple[Any, Any]:
        """Probabilities, and a uniform number for each of `n` draws from each row."""
        if size is not None:
            raise ValueError(f"MRG_RandomStream.{name} takes no `size`: it is that of the probabilities.")
        if pvals is None:
            raise TypeError("You have to specify pvals")
        pvals = undefined_grad(as_tensor_variable(pvals))
        if pvals.type.ndim != 2:
            raise NotImplementedError(f"MRG_RandomStream.{name} only implemented for pvals.ndim = 2")
        if isinstance(n, (tuple, list)):
            raise TypeError(f"The number of draws must be an integer, got {n}.")
        return pvals, self.uniform((pvals.shape[0] * n,), ndim=1, nstreams=nstreams)


#: The standard deviation of the standard normal distribution truncated to the interval from -2 to 2.
_STD_OF_TRUNCATED = 0.87962566103423978


def _no_others(method: str, kwargs: dict[str, object]) -> None:
    if kwargs:
        raise TypeError(f"{method}() got unexpected keyword arguments {', '.join(kwargs)}")


def _parameters(dtype: str | None, *given: object) -> tuple[list[Any], str]:
    """Parameters of a distribution in the dtype of its numbers, and that dtype."""
    values = [undefined_grad(as_tensor_variable(x)) for x in given]
    if dtype is None:
        dtype = upcast(config.floatX, *[x.type.dtype for x in values])
    return [cast(x, dtype) for x in values], dtype


@node_rewriter([mrg_uniform])
def mrg_random_make_inplace(fgraph: FunctionGraph, node: Apply) -> Any:
    """Overwrite the states that come in."""
    if node.op.inplace:
        return False
    return mrg_uniform(node.op.output_type, inplace=True).make_node(*node.inputs).outputs


optdb.register("random_make_inplace_mrg", InplaceWriter(mrg_random_make_inplace), "fast_run", "inplace", position=99)
