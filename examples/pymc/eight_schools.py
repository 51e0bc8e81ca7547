"""The effects of coaching in eight schools (Rubin, "Estimation in parallel randomized experiments", 1981)."""

import numpy as np
import pymc as pm
from sampling import main

ESTIMATE = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERROR = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


def build():
    """The model, with effects in units of their spread."""
    with pm.Model(coords={"school": list("ABCDEFGH")}) as model:
        mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
        effect = pm.Deterministic("effect", mu + tau * pm.Normal("z", dims="school"), dims="school")
        pm.Normal("estimate", effect, ERROR, observed=ESTIMATE)
    return model


if __name__ == "__main__":
    main(build, ["mu", "tau", "effect"])
