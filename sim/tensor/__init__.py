"""The matrix instructions, executed for many warps at once."""

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
