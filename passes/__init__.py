"""The passes, one a file; `registry` finds them by name, `pipeline` runs them."""

from .base import Diagnostic, Pass, PassError, remark, walk
from .registry import register

__all__ = ["Diagnostic", "Pass", "PassError", "register", "remark", "walk"]
