"""Layouts as algebra: linear maps over bits, and every fragment as one of them.

`wavefronts`, which counts bank conflicts of arrays of addresses, is imported by itself: it alone
needs numpy.
"""

from typing import TYPE_CHECKING

from tilec.isa.lazy_names import lazy_names

if TYPE_CHECKING:
    from .access import Access, fragment_wavefronts, matrix_access, vector_access
    from .banks import Count
    from .conversion import best_access, conversion_plans, convert
    from .descriptors import DescribedOperand, Descriptor, solve_descriptor
    from .fragments import any_fragment_of, fragment_of, row_addresses
    from .linear import LayoutError, LinearLayout
    from .lookup import find_form, fragment
    from .plans import Nothing, Permutation, Plan, Price, SharedTrip, Shuffles, Transposition
    from .repeated import Fragment, RepeatedLayout
    from .selected import logical_column
    from .shared_matrix import Digit, SharedMatrix
    from .swizzle import NO_SWIZZLE, SWIZZLES, Swizzle, shared_layout
    from .synthesis import Pattern, Swizzling, find_swizzle
    from .tma_boxes import Boxes, find_boxes

__all__ = [
    "NO_SWIZZLE",
    "SWIZZLES",
    "Access",
    "Boxes",
    "Count",
    "DescribedOperand",
    "Descriptor",
    "Digit",
    "Fragment",
    "LayoutError",
    "LinearLayout",
    "Nothing",
    "Pattern",
    "Permutation",
    "Plan",
    "Price",
    "RepeatedLayout",
    "SharedMatrix",
    "SharedTrip",
    "Shuffles",
    "Swizzle",
    "Swizzling",
    "Transposition",
    "any_fragment_of",
    "best_access",
    "conversion_plans",
    "convert",
    "find_boxes",
    "find_form",
    "find_swizzle",
    "fragment",
    "fragment_of",
    "fragment_wavefronts",
    "logical_column",
    "matrix_access",
    "row_addresses",
    "shared_layout",
    "solve_descriptor",
    "vector_access",
]

_MODULES = {
    "access": (
        "Access",
        "fragment_wavefronts",
        "matrix_access",
        "vector_access",
    ),
    "banks": ("Count",),
    "conversion": (
        "best_access",
        "conversion_plans",
        "convert",
    ),
    "descriptors": (
        "DescribedOperand",
        "Descriptor",
        "solve_descriptor",
    ),
    "fragments": (
        "any_fragment_of",
        "fragment_of",
        "row_addresses",
    ),
    "linear": (
        "LayoutError",
        "LinearLayout",
    ),
    "lookup": (
        "find_form",
        "fragment",
    ),
    "plans": (
        *("Nothing", "Permutation", "Plan", "Price"),
        *("SharedTrip", "Shuffles", "Transposition"),
    ),
    "repeated": (
        "Fragment",
        "RepeatedLayout",
    ),
    "selected": ("logical_column",),
    "shared_matrix": (
        "Digit",
        "SharedMatrix",
    ),
    "swizzle": (
        "NO_SWIZZLE",
        "SWIZZLES",
        "Swizzle",
        "shared_layout",
    ),
    "synthesis": (
        "Pattern",
        "Swizzling",
        "find_swizzle",
    ),
    "tma_boxes": (
        "Boxes",
        "find_boxes",
    ),
}
"""What is imported when it is first used, by its module: few need all of it."""

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, {n: f".{m}" for m, names in _MODULES.items() for n in names})


def __dir__() -> list[str]:
    """What editors and notebooks complete."""
    return sorted({*globals(), *__all__})
