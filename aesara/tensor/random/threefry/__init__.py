"""Draws without generators: pure functions of a key, by the counter-based Threefry-2x32."""

from aesara.tensor.random.threefry.bits import *
from aesara.tensor.random.threefry.choosing import *
from aesara.tensor.random.threefry.continuous import *
