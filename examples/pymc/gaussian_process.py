"""A smooth function from noisy values at 80 points: a Gaussian process, with its length and noise to be found."""

import numpy as np
import pymc as pm
from sampling import main

POINTS = 80


def build():
    """The model; the function itself is integrated out."""
    rng = np.random.default_rng(1)
    x = np.sort(rng.uniform(0, 10, POINTS))
    y = np.sin(x) + 0.5 * np.sin(3.1 * x) + rng.normal(0, 0.2, POINTS)
    with pm.Model() as model:
        length, height = pm.InverseGamma("length", 5, 5), pm.HalfNormal("height", 2)
        noise = pm.HalfNormal("noise", 1)
        process = pm.gp.Marginal(cov_func=height**2 * pm.gp.cov.Matern52(1, ls=length))
        process.marginal_likelihood("y", X=x[:, None], y=y, sigma=noise)
    return model


if __name__ == "__main__":
    main(build, ["length", "height", "noise"])
