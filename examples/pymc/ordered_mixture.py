"""Three kinds of things that are told apart by one measurement: a mixture whose components are in order."""

import numpy as np
import pymc as pm
from sampling import main

SIZE = 400


def build():
    """The model; which component a thing is of is summed out."""
    rng = np.random.default_rng(2)
    kind = rng.choice(3, SIZE, p=[0.5, 0.3, 0.2])
    y = rng.normal(np.array([-2.0, 0.5, 4.0])[kind], np.array([0.7, 0.5, 1.2])[kind])
    with pm.Model() as model:
        weight = pm.Dirichlet("weight", np.ones(3))
        in_order = pm.distributions.transforms.ordered
        mean = pm.Normal("mean", 0, 5, shape=3, transform=in_order, initval=[-1.0, 0.0, 1.0])
        spread = pm.HalfNormal("spread", 2, shape=3)
        pm.NormalMixture("y", w=weight, mu=mean, sigma=spread, observed=y)
    return model


if __name__ == "__main__":
    main(build, ["weight", "mean", "spread"])
