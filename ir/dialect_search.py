"""Where MLIR's bindings look for the Python classes of a dialect that they meet."""

from __future__ import annotations

from functools import cache


@cache
def tell_bindings() -> None:
    """Tell MLIR's bindings where the modules of dialects are.

    The tile dialect's they would search for whenever they meet one of its ops, types or attributes:
    half of a compilation's time. What is in `tilec.ir.generic` is found there first.
    """
    from .mlir import ext  # noqa: PLC0415 (MLIR is imported when first needed)

    found = ext._cext.globals
    found.dialect_search_modules = (
        "tilec.ir.generic",
        *found.dialect_search_modules,
        "tilec.dialects",
    )
