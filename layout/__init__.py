"""Layouts as algebra: linear maps over bits, and every fragment as one of them."""

from .fragments import fragment_of, row_addresses
from .linear import LayoutError, LinearLayout
from .lookup import find_form, fragment
from .selected import logical_column

__all__ = [
    "LayoutError",
    "LinearLayout",
    "find_form",
    "fragment",
    "fragment_of",
    "logical_column",
    "row_addresses",
]
