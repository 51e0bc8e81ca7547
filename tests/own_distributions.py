"""A distribution that has nothing but `rng_fn`, for tests of what is done with those of users."""

from aesara.tensor.random.random_variable import RandomVariable


class SumOfDiceRV(RandomVariable):
    name = "two_dice"
    ndim_supp = 0
    ndims_params = (0,)
    dtype = "int64"

    @classmethod
    def rng_fn(cls, rng, sides, size):
        return rng.integers(1, sides + 1, size) + rng.integers(1, sides + 1, size)
