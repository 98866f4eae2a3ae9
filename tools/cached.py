"""`tilec` through the compile cache, where `TILEC_CACHE=1` asks for it."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tilec.cache.environment import cache_wanted

if TYPE_CHECKING:
    from tilec.compiled import Compiled


def wants_cache(arguments: argparse.Namespace) -> bool:
    """Whether what the arguments ask for may be remembered, and the environment says so.

    Raises:
        TilecError: if `TILEC_CACHE` has no legal value.
    """
    others = ("save_temps", "pipeline", "verify_", "mlir_")
    watched = any(
        value not in (None, False)
        for name, value in vars(arguments).items()
        if name.startswith(others)
    )
    return cache_wanted(None) and arguments.emit in ("ptx", "cubin", "sass") and not watched


def compile_cached(text: str, name: str, arguments: argparse.Namespace) -> Compiled:
    """The compilation that the arguments ask for, remembered or made.

    Raises:
        TilecError: as `tilec.compile` does.
    """
    from tilec.driver import compile  # noqa: A004, PLC0415

    with _warnings_shown():
        return compile(
            text,
            name=name,
            target=arguments.target,
            emit=arguments.emit,
            opt_level=arguments.level,
            lineinfo=arguments.lineinfo,
            cache=True,
        )


@contextmanager
def _warnings_shown() -> Iterator[None]:
    """Shows warnings as a command does."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        finally:
            for one in caught:
                sys.stderr.write(f"warning: {one.message}\n")
