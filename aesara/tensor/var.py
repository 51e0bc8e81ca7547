"""Tensor variables and constants, under their documented path."""

from __future__ import annotations

from aesara.configdefaults import config  # noqa: F401 - documented under this path
from aesara.tensor.core.tensor_constant import TensorConstant, TensorConstantSignature, get_unique_value  # noqa: F401
from aesara.tensor.core.tensor_type import DenseTensorType
from aesara.tensor.core.variable import TensorVariable, _tensor_py_operators  # noqa: F401 - documented under this path
from aesara.tensor.type_other import NoneConst  # noqa: F401 - documented under this path

__all__ = ["TensorConstant", "TensorVariable"]


class _DenseMeta(type(TensorVariable)):  # type: ignore[misc]  # the class of a class is known
    """Metaclass by which variables and constants of dense types are instances of the classes below."""

    plain: type[TensorVariable]

    def __instancecheck__(cls, instance: object) -> bool:
        if not isinstance(instance, cls.plain) or not isinstance(instance.type, DenseTensorType):
            return False
        # Constants are variables, but `isinstance(x, TensorVariable)` is meant to exclude them.
        return issubclass(cls.plain, TensorConstant) or not isinstance(instance, TensorConstant)


class DenseVariableMeta(_DenseMeta):
    """Metaclass by which variables of dense types, except constants, are instances of `DenseTensorVariable`."""

    plain = TensorVariable


class DenseTensorVariable(TensorVariable, metaclass=DenseVariableMeta):
    """The variables whose values are dense arrays; for `isinstance` checks."""


class DenseConstantMeta(_DenseMeta):
    """Metaclass by which constants of dense types are instances of `DenseTensorConstant`."""

    plain = TensorConstant


class DenseTensorConstant(TensorConstant, metaclass=DenseConstantMeta):
    """The constants whose values are dense arrays; for `isinstance` checks."""
