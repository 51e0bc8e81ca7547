"""Examples of rules about the order of dimensions."""

import aesara.tensor as at
from aesara.tensor.creation.make_vector import MakeVector
from aesara.tensor.shapes.dimshuffle import DimShuffle

EXAMPLES = {
    "local_dimshuffle_lift": [
        lambda m: m.dimshuffle(0, 1),
        lambda m: m.T.T,
        lambda m: m.T.dimshuffle(1, "x", 0),
        lambda m: m.dimshuffle("x", 0, 1).dimshuffle(2, 1),
        lambda m: at.exp(m).T,
        lambda m, v: (m + v).T,
        lambda m, v: (m * v).dimshuffle(1, "x", 0),
        lambda m, s: at.switch(m > 0, s, m).dimshuffle("x", 0, 1),
        lambda m: at.exp(m[:, :1]).dimshuffle(0),
        lambda m, v: (m[:1] + v.dimshuffle("x", 0)).dimshuffle(1),
        lambda m: m[:, :1].dimshuffle(0, "x"),
        lambda m: m[:1].dimshuffle("x", 1, 0).dimshuffle(2, 1, 0),
    ],
    "local_useless_dimshuffle_makevector": [
        lambda s: DimShuffle((True,), ())(MakeVector("float64")(s)),
        lambda s: DimShuffle((True,), ())(MakeVector(s.type.dtype)(s)),
    ],
}
