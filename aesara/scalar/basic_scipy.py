"""Facade: the special functions under an older module path; use `aesara.scalar.math`."""

from aesara.scalar import *
from aesara.user_code import warn_user

warn_user("aesara.scalar.basic_scipy is deprecated; import from aesara.scalar.math instead.", DeprecationWarning)
