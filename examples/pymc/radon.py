"""Radon in houses: levels and slopes that vary among counties (Gelman and Hill, "Data Analysis Using Regression").

    log radon[i] ~ Normal(level[county[i]] + slope[county[i]] * floor[i], sigma)

The numbers of houses in counties and the sizes of the effects are those of Minnesota; the measurements are simulated.
"""

import numpy as np
import pymc as pm
from sampling import main

COUNTIES, HOUSES = 85, 919


def simulate(rng):
    """County, floor and logarithm of the radon level of each house."""
    county = np.sort(rng.choice(COUNTIES, HOUSES, p=rng.dirichlet(np.full(COUNTIES, 0.7))))
    floor = rng.binomial(1, 0.17, HOUSES).astype(float)
    level, slope = rng.normal(1.5, 0.35, COUNTIES), rng.normal(-0.7, 0.3, COUNTIES)
    return county, floor, rng.normal(level[county] + slope[county] * floor, 0.75)


def build():
    """The model."""
    county, floor, log_radon = simulate(np.random.default_rng(0))
    with pm.Model(coords={"county": np.arange(COUNTIES)}) as model:
        mean = pm.Normal("mean", 0, 5, shape=2)
        spread = pm.HalfNormal("spread", 2, shape=2)
        level = pm.Deterministic("level", mean[0] + spread[0] * pm.Normal("z_level", dims="county"), dims="county")
        slope = pm.Deterministic("slope", mean[1] + spread[1] * pm.Normal("z_slope", dims="county"), dims="county")
        sigma = pm.HalfNormal("sigma", 2)
        pm.Normal("log_radon", level[county] + slope[county] * floor, sigma, observed=log_radon)
    return model


if __name__ == "__main__":
    main(build, ["mean", "spread", "sigma"])
