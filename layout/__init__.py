"""Layouts as algebra: linear maps over bits, and every fragment as one of them.

`wavefronts`, which counts bank conflicts of arrays of addresses, is imported by itself: it alone
needs numpy.
"""

from .access import Access, fragment_wavefronts, matrix_access, vector_access
from .banks import Count
from .conversion import best_access, conversion_plans, convert
from .fragments import any_fragment_of, fragment_of, row_addresses
from .linear import LayoutError, LinearLayout
from .lookup import find_form, fragment
from .plans import Nothing, Permutation, Plan, Price, SharedTrip, Shuffles, Transposition
from .repeated import Fragment, RepeatedLayout
from .selected import logical_column
from .swizzle import NO_SWIZZLE, SWIZZLES, Swizzle, shared_layout
from .synthesis import Pattern, Swizzling, find_swizzle

__all__ = [
    "NO_SWIZZLE",
    "SWIZZLES",
    "Access",
    "Count",
    "Fragment",
    "LayoutError",
    "LinearLayout",
    "Nothing",
    "Pattern",
    "Permutation",
    "Plan",
    "Price",
    "RepeatedLayout",
    "SharedTrip",
    "Shuffles",
    "Swizzle",
    "Swizzling",
    "Transposition",
    "any_fragment_of",
    "best_access",
    "conversion_plans",
    "convert",
    "find_form",
    "find_swizzle",
    "fragment",
    "fragment_of",
    "fragment_wavefronts",
    "logical_column",
    "matrix_access",
    "row_addresses",
    "shared_layout",
    "vector_access",
]
