"""MLIR's Python bindings: the only file that names who provides them.

Upstream's own package `mlir` is taken where it is installed with all that tilec needs, else
the LLVM project's wheel `torch-mlir`, which carries the whole upstream bindings under the
prefix `torch_mlir`. Elsewhere in tilec: `from tilec.mlir import ir`, and
`dialect("scf")` for a dialect's module.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tilec.isa.errors import TilecError

__all__ = ["dialect", "ext", "ir", "passmanager", "provider", "rewrite"]

_PROVIDERS = ("mlir", "torch_mlir")
_NEEDED = ("ir", "passmanager", "rewrite", "dialects.ext", "dialects.nvvm", "dialects.gpu")


def _complete(provider: str) -> bool:
    """Whether `provider` is installed with every module that tilec uses, without importing it."""
    spec = find_spec(provider)
    if spec is None or not spec.submodule_search_locations:
        return False
    from pathlib import Path  # noqa: PLC0415 (only where a provider was found)

    return all(
        any(
            (Path(root, *name.split(".")).with_suffix(".py")).exists()
            or Path(root, *name.split(".")).is_dir()
            for root in spec.submodule_search_locations
        )
        for name in _NEEDED
    )


@cache
def provider() -> str:
    """Name of the package that provides the bindings.

    Raises:
        TilecError: if none is installed.
    """
    for name in _PROVIDERS:
        if name in sys.modules or _complete(name):
            return name
    raise TilecError(
        "MLIR's Python bindings are not installed; `pip install torch-mlir` brings them, "
        "or install LLVM's own package `mlir`"
    )


def dialect(name: str) -> Any:
    """The bindings' module of dialect `name`, such as `scf`."""
    return import_module(f"{provider()}.dialects.{name}")


if TYPE_CHECKING:
    from torch_mlir import ir, passmanager, rewrite
    from torch_mlir.dialects import ext
else:

    def __getattr__(name: str) -> ModuleType:
        """`ir`, `passmanager`, `rewrite` or `ext`, imported when first asked for."""
        if name == "ext":
            module = import_module(f"{provider()}.dialects.ext")
        elif name in ("ir", "passmanager", "rewrite"):
            module = import_module(f"{provider()}.{name}")
        else:
            raise AttributeError(name)
        globals()[name] = module
        return module
