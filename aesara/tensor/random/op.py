"""Operations on random generators under their documented path.

They are defined in `random_variable`, `constructors` and `parameters`.
"""

from aesara.configdefaults import config
from aesara.tensor.random.constructors import (
    AbstractRNGConstructor,
    DefaultGeneratorMakerOp,
    RandomState,
    RandomStateConstructor,
    default_rng,
)
from aesara.tensor.random.parameters import default_supp_shape_from_params
from aesara.tensor.random.random_variable import RandomVariable
from aesara.tensor.type_other import NoneConst

__all__ = [name for name in dir() if not name.startswith("_")]
