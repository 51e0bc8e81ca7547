"""Ops that check conditions when a graph is computed, and raise an exception."""

from aesara.tensor.core.check_and_raise import Assert, CheckAndRaise, ExceptionType, assert_op, exception_type

__all__ = ["Assert", "CheckAndRaise", "ExceptionType", "assert_op", "exception_type"]
