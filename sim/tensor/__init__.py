"""The matrix instructions, executed for many warps at once."""

from typing import TYPE_CHECKING

from tilec.isa.lazy_names import lazy_names

if TYPE_CHECKING:
    from .fragment import Fragment
    from .moves import load_matrix, move_matrix, store_matrix
    from .product import multiply, multiply_fragments
    from .wmma import wmma_offsets

__all__ = [
    "Fragment",
    "load_matrix",
    "move_matrix",
    "multiply",
    "multiply_fragments",
    "store_matrix",
    "wmma_offsets",
]

_HOMES = {
    "Fragment": ".fragment",
    "load_matrix": ".moves",
    "move_matrix": ".moves",
    "multiply": ".product",
    "multiply_fragments": ".product",
    "store_matrix": ".moves",
    "wmma_offsets": ".wmma",
}
"""Where each is, imported when it is first used: few kernels have matrix instructions."""

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _HOMES)
