"""Layouts as algebra: linear maps over bits, and every fragment as one of them."""

from .fragments import fragment
from .linear import LayoutError, LinearLayout

__all__ = ["LayoutError", "LinearLayout", "fragment"]
