"""Gives tiles the functions behind their operators and methods."""

from .arithmetic import absolute, binary, invert, negative
from .casts import astype, view
from .indexing import index_tile
from .products import dot
from .reductions import combined
from .shapes import full, reshape, transpose
from .tile import OPERATIONS

OPERATIONS.update(
    {
        "absolute": absolute,
        "astype": astype,
        "binary": binary,
        "dot": dot,
        "full": full,
        "index_tile": index_tile,
        "invert": invert,
        "negative": negative,
        "reduce": combined,
        "reshape": reshape,
        "transpose": transpose,
        "view": view,
    }
)
