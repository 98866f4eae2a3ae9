"""Gives tiles the functions behind their operators and methods."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from .arithmetic import absolute, binary, invert, negative
from .casts import astype, view
from .indexing import index_tile
from .products import dot
from .reductions import combined
from .shapes import full, reshape, transpose
from .tile import OPERATIONS, Tile


def _later(file: str, name: str) -> Callable[..., Tile]:
    """A function of a file that most kernels do not need, which is imported when it is called."""

    def call(*operands: Any, **options: Any) -> Tile:
        found: Tile = getattr(import_module(f".{file}", __package__), name)(*operands, **options)
        return found

    return call


OPERATIONS.update(
    {
        "absolute": absolute,
        "argmax": _later("sorts", "argmax"),
        "argmin": _later("sorts", "argmin"),
        "astype": astype,
        "binary": binary,
        "cumsum": _later("scans", "cumsum"),
        "dot": dot,
        "full": full,
        "index_tile": index_tile,
        "invert": invert,
        "mean": _later("statistics", "mean"),
        "negative": negative,
        "reduce": combined,
        "reshape": reshape,
        "std": _later("statistics", "std"),
        "transpose": transpose,
        "var": _later("statistics", "var"),
        "view": view,
    }
)
