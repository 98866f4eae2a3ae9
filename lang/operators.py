"""The functions behind a tile's operators and methods."""

from .arithmetic import absolute, binary, invert, negative
from .casts import astype, view
from .products import dot
from .reductions import reduced
from .shapes import indexed, reshape, transpose

__all__ = [
    "absolute",
    "astype",
    "binary",
    "dot",
    "indexed",
    "invert",
    "negative",
    "reduced",
    "reshape",
    "transpose",
    "view",
]
