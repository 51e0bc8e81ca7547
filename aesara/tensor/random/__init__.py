"""Random draws: distributions, generators, and streams that take care of generators."""

from aesara.tensor.random import basic, op, threefry, type, utils, var
from aesara.tensor.random.constructors import RandomState, default_rng
from aesara.tensor.random.distributions.bounded import *
from aesara.tensor.random.distributions.choosing import *
from aesara.tensor.random.distributions.counts import *
from aesara.tensor.random.distributions.location_scale import *
from aesara.tensor.random.distributions.positive import *
from aesara.tensor.random.distributions.standard import *
from aesara.tensor.random.distributions.vectors import *
from aesara.tensor.random.stream import RandomStream
