"""The kinds of configuration options: how a value is converted, and what is allowed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from aesara.utils import did_you_mean


class ConfigParam:
    """One option: its default, how a value is converted, and what is allowed.

    Parameters
    ----------
    default
        A value, or a function without parameters that makes it when the option is first read.
    apply
        Converts a given value; raises `ValueError` where it cannot.
    validate
        Tells whether a converted value is allowed.
    mutable
        Whether the option may change once it was read.

    Examples
    --------
    >>> ConfigParam("3", apply=int).apply("4")
    4
    """

    def __init__(
        self,
        default: object | Callable[[], object],
        *,
        apply: Callable[[object], object] | None = None,
        validate: Callable[[object], bool] | None = None,
        mutable: bool = True,
    ):
        self._default = default
        self._apply = apply
        self._validate = validate
        self._mutable = mutable
        self.name: str | None = None
        self.doc = ""
        self.in_c_key = True
        self.no_effect = ""

    @property
    def default(self):
        """The default, or the function that makes it."""
        return self._default

    @property
    def mutable(self) -> bool:
        """True if the option may change after it was read."""
        return self._mutable

    def apply(self, value):
        """Convert a value that was given for this option."""
        return value if self._apply is None else self._apply(value)

    def validate(self, value) -> bool:
        """Tell whether a converted value is allowed; raise `ValueError` where it is not."""
        if self._validate is not None and self._validate(value) is False:
            raise ValueError(f"Invalid value ({value!r}) for the configuration option '{self.name}'.")
        return True

    def convert(self, value):
        """Convert and check a value."""
        converted = self.apply(value)
        self.validate(converted)
        return converted


class TypedParam(ConfigParam):
    """Base of the options of one Python type."""

    def __str__(self) -> str:
        return f"{self.name} ({self.default})"


class EnumStr(ConfigParam):
    """A string out of a few.

    Examples
    --------
    >>> EnumStr("low", ["high"]).apply("high")
    'high'
    """

    def __init__(self, default: str, options: Sequence[str], validate=None, mutable: bool = True):
        for value in options:
            if not isinstance(value, str):
                raise ValueError(f"Non-str value {value!r} among the options of an EnumStr.")
        self.all = {default, *options}
        self.options = [default, *(option for option in options if option != default)]
        super().__init__(default, apply=self._choose, validate=validate, mutable=mutable)

    def _choose(self, value):
        if value in self.all:
            return value
        hint = did_you_mean(str(value), self.options)
        raise ValueError(
            f"Invalid value ({value!r}) for the configuration option '{self.name}'. "
            f"Valid options are {self.options}.{hint}"
        )

    def __str__(self) -> str:
        return f"{self.name} ({self.options})"


class ModeParam(EnumStr):
    """The name of a mode, or a mode."""

    def _choose(self, value):
        if hasattr(value, "linker") or value in self.all:
            return value
        hint = did_you_mean(str(value), self.options)
        raise ValueError(
            f"Invalid value ({value!r}) for the configuration option '{self.name}'. Expected one of {self.options},"
            f" or an object of class Mode.{hint}"
        )


class StrParam(TypedParam):
    """A string."""

    def __init__(self, default, validate=None, mutable: bool = True):
        super().__init__(default, apply=str, validate=validate, mutable=mutable)


class PathParam(TypedParam):
    """The path of a file or a folder; ``~`` is the user's home."""

    def __init__(self, default, validate=None, mutable: bool = True):
        super().__init__(default, apply=self._expand, validate=validate, mutable=mutable)

    @staticmethod
    def _expand(path):
        return os.path.expanduser(str(path))


class IntParam(TypedParam):
    """An integer."""

    def __init__(self, default, validate=None, mutable: bool = True):
        super().__init__(default, apply=self._as_int, validate=validate, mutable=mutable)

    def _as_int(self, value):
        try:
            return int(value)
        except (TypeError, ValueError):
            raise ValueError(
                f"Invalid value ({value!r}) for the configuration option '{self.name}': expected an integer."
            ) from None


class FloatParam(TypedParam):
    """A floating-point number."""

    def __init__(self, default, validate=None, mutable: bool = True):
        super().__init__(default, apply=self._as_float, validate=validate, mutable=mutable)

    def _as_float(self, value):
        try:
            return float(value)
        except (TypeError, ValueError):
            raise ValueError(
                f"Invalid value ({value!r}) for the configuration option '{self.name}': expected a number."
            ) from None


_TRUE = (True, "1", "t", "true", "True", "TRUE", "yes", "on")
_FALSE = (False, "0", "f", "false", "False", "FALSE", "no", "off")


class BoolParam(TypedParam):
    """A truth value; also given as 1/0, true/false, yes/no, on/off.

    Examples
    --------
    >>> BoolParam(False).apply("true")
    True
    """

    def __init__(self, default, validate=None, mutable: bool = True):
        super().__init__(default, apply=self._as_bool, validate=validate, mutable=mutable)

    def _as_bool(self, value):
        if value in _TRUE:
            return True
        if value in _FALSE:
            return False
        raise ValueError(
            f"Invalid value ({value!r}) for the configuration option '{self.name}': expected True or False."
        )


class DeviceParam(ConfigParam):
    """The device that computes; only the CPU is chosen here."""

    def __init__(self, default, *options, **kwargs):
        self._options = (default, *options)
        super().__init__(default, apply=self._check, mutable=kwargs.get("mutable", True))

    def _check(self, value):
        if value in self._options or (isinstance(value, str) and value.startswith("cpu")):
            return value
        if isinstance(value, str) and value.startswith(("cuda", "opencl", "gpu")):
            raise ValueError(
                f"The device '{value}' is not chosen through this option. It was removed from Aesara; compile with "
                "mode='JAX' to compute on an accelerator."
            )
        raise ValueError(f'Invalid device {value!r}. Valid options start with one of "cpu".')

    def __str__(self) -> str:
        return f"{self.name} ({self.default})"


class ContextsParam(ConfigParam):
    """A list of ``name->device`` pairs, kept as it was given."""

    def __init__(self):
        super().__init__("", apply=self._check, mutable=False)

    @staticmethod
    def _check(value):
        for pair in str(value).split(";"):
            if pair and len(pair.split("->")) != 2:
                raise ValueError(f"Malformed context {pair!r}: expected 'name->device'.")
        return value
