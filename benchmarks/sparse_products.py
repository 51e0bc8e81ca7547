"""Measure products of a sparse matrix with dense ones, and their gradients, beside SciPy's.

    python benchmarks/sparse_products.py [--rows 100000] [--columns 10000] [--stored 1000000] [--repeat 30]

Each line is a product, with milliseconds here and for SciPy, best of many in turns.
"""

import argparse
import time

import numpy as np
import scipy.sparse

import aesara
import aesara.sparse as sparse
import aesara.tensor as at


def best(functions, repeat):
    """The shortest time of each function, in milliseconds."""
    times = [float("inf")] * len(functions)
    for _ in range(repeat):
        for k, function in enumerate(functions):
            started = time.perf_counter()
            function()
            times[k] = min(times[k], 1e3 * (time.perf_counter() - started))
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name, default in (("rows", 100_000), ("columns", 10_000), ("stored", 1_000_000), ("repeat", 30)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    places = rng.integers(0, options.rows, options.stored), rng.integers(0, options.columns, options.stored)
    shape = options.rows, options.columns
    matrix = scipy.sparse.csr_matrix((rng.normal(size=options.stored), places), shape)
    A = sparse.csr_matrix("A")
    print(f"{shape[0]} x {shape[1]}, {matrix.nnz} stored values: milliseconds here, and for SciPy")
    for what, x, value in (
        ("vector", at.dvector("x"), rng.normal(size=shape[1])),
        ("10 columns", at.dmatrix("x"), rng.normal(size=(shape[1], 10))),
    ):
        product = sparse.dot(A, x)
        cost = (product**2).sum()

        def of_scipy(value=value):
            product = matrix @ value
            return (product**2).sum(), matrix.T @ (2 * product)

        f = aesara.function([A, x], product)
        times = best([lambda f=f, v=value: f(matrix, v), lambda v=value: matrix @ v], options.repeat)
        print(f"{what:24} {times[0]:8.2f} {times[1]:8.2f}")
        f = aesara.function([A, x], [cost, aesara.grad(cost, x)])
        np.testing.assert_allclose(f(matrix, value)[1], of_scipy()[1], rtol=1e-9, atol=1e-9)
        times = best([lambda f=f, v=value: f(matrix, v), of_scipy], options.repeat)
        print(f"{what + ', with gradient':24} {times[0]:8.2f} {times[1]:8.2f}")


if __name__ == "__main__":
    main()
