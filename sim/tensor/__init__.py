"""The matrix instructions, executed for many warps at once."""

from .moves import load_matrix, move_matrix, store_matrix
from .product import multiply
from .wmma import wmma_offsets

__all__ = ["load_matrix", "move_matrix", "multiply", "store_matrix", "wmma_offsets"]
