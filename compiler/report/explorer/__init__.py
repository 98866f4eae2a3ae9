"""A compilation as one page: the program after every pass, and what became of each source line."""

from __future__ import annotations

from .kernels import summary
from .page import explore

__all__ = ["explore", "summary"]
