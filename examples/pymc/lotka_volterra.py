"""Hares and lynxes: two differential equations, solved by Runge-Kutta steps in a scan, and fitted to 21 years of furs.

The numbers of furs (thousands) that the Hudson's Bay Company took in from 1900 to 1920 are those of Hewitt ("The
Conservation of the Wild Life of Canada", 1921).
"""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from sampling import main

HARES = np.array([30, 47.2, 70.2, 77.4, 36.3, 20.6, 18.1, 21.4, 22, 25.4, 27.1, 40.3, 57, 76.6, 52.3, 19.5, 11.2, 7.6,
                  14.6, 16.2, 24.7])  # fmt: skip
LYNXES = np.array([4, 6.1, 9.8, 35.2, 59.4, 41.7, 19, 13, 8.3, 9.1, 7.4, 8, 12.3, 19.5, 45.7, 51.1, 29.7, 15.8, 9.7,
                   10.1, 8.6])  # fmt: skip
#: Runge-Kutta steps in a year
STEPS = 10


def build():
    """The model."""
    with pm.Model() as model:
        rate = pm.LogNormal("rate", np.log([0.55, 0.028, 0.8, 0.024]), 0.3)
        start = pm.LogNormal("start", np.log([30.0, 4.0]), 0.3)
        error = pm.LogNormal("error", -1.0, 1.0, shape=2)

        def slope(hares, lynxes, rate):
            return (rate[0] - rate[1] * lynxes) * hares, (rate[3] * hares - rate[2]) * lynxes

        def step(hares, lynxes, rate):
            h = 1.0 / STEPS
            a, b = slope(hares, lynxes, rate)
            c, d = slope(hares + h / 2 * a, lynxes + h / 2 * b, rate)
            e, f = slope(hares + h / 2 * c, lynxes + h / 2 * d, rate)
            g, i = slope(hares + h * e, lynxes + h * f, rate)
            return hares + h / 6 * (a + 2 * c + 2 * e + g), lynxes + h / 6 * (b + 2 * d + 2 * f + i)

        hares, lynxes = pytensor.scan(
            step, outputs_info=[start[0], start[1]], non_sequences=[rate], n_steps=20 * STEPS, return_updates=False
        )
        pm.LogNormal("first", pt.log(start), error, observed=np.array([HARES[0], LYNXES[0]]))
        pm.LogNormal("hares", pt.log(hares[STEPS - 1 :: STEPS]), error[0], observed=HARES[1:])
        pm.LogNormal("lynxes", pt.log(lynxes[STEPS - 1 :: STEPS]), error[1], observed=LYNXES[1:])
    return model


if __name__ == "__main__":
    main(build, ["rate", "start", "error"])
