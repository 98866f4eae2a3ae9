"""MLIR's Python bindings: the only file that names who provides them.

Upstream's own package `mlir` is taken where it is installed with all that tilec needs, else
the LLVM project's wheel `torch-mlir`, which carries the whole upstream bindings under the
prefix `torch_mlir`. Elsewhere in tilec: `from tilec.ir.mlir import ir, scf`, and
`dialect("math")` for the module of a dialect that is not among these.

To type checkers they are what `tilec.ir.stubs` says of them, whoever provides them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING

from tilec.isa.errors import TilecError

__all__ = ["dialect", "ext", "gpu", "ir", "passmanager", "provider", "rewrite", "scf"]

with_numpy = True
"""Whether the bindings may import numpy, if asked before they are imported themselves.

They use it to build dense attributes from arrays, and it takes as long to import as they do: a
command line, whose process is its own, need not wait for it.
"""

_PROVIDERS = ("mlir", "torch_mlir")
_NEEDED = ("ir", "passmanager", "rewrite", "dialects.ext", "dialects.nvvm", "dialects.gpu")
_ROOM = 168 << 20
"""Bytes of address space that the bindings take as they are loaded."""


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


def _check_room() -> None:
    """Ask whether there is room for MLIR, which ends the process that it cannot begin in.

    Raises:
        MemoryError: if the limit of the address space leaves too little.
    """
    from resource import RLIM_INFINITY, RLIMIT_AS, getpagesize, getrlimit  # noqa: PLC0415 (once)

    limit, _ = getrlimit(RLIMIT_AS)
    if limit == RLIM_INFINITY:
        return
    try:
        with open("/proc/self/statm", encoding="ascii") as sizes:
            pages = int(sizes.read().split()[0])
    except OSError:  # not Linux
        return
    if limit < pages * getpagesize() + _ROOM:
        raise MemoryError


@cache
def provider() -> str:
    """Name of the package that provides the bindings.

    Raises:
        TilecError: if none is installed.
        MemoryError: if the address space is limited to less than they take.
    """
    for name in _PROVIDERS:
        if name in sys.modules:
            return name
        if _complete(name):
            _check_room()
            return name
    raise TilecError(
        "MLIR's Python bindings are not installed; `pip install torch-mlir` brings them, "
        "or install LLVM's own package `mlir`"
    )


def translate_to_llvm_ir(operation: ir.Operation) -> str:
    """LLVM IR of a module-like operation in the LLVM dialect; a failure ends the process."""
    # The extension itself: the dialect's Python module, with its hundreds of ops, is not needed.
    extension = import_module(f"{provider()}._mlir_libs._mlirDialectsLLVM")
    text: str = extension.translate_module_to_llvmir(operation)
    return text


def dialect(name: str) -> ModuleType:
    """The bindings' module of dialect `name`, such as `scf`."""
    return import_module(f"{provider()}.dialects.{name}")


@contextmanager
def _numpy_hidden() -> Iterator[None]:
    """Makes `import numpy` fail, unless it has been imported."""
    if "numpy" in sys.modules:
        yield
        return
    sys.modules["numpy"] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules["numpy"]


if TYPE_CHECKING:
    from .stubs import ext, gpu, ir, passmanager, rewrite, scf
else:
    _MODULES = {
        **{name: name for name in ("ir", "passmanager", "rewrite")},
        **{name: f"dialects.{name}" for name in ("ext", "gpu", "scf")},
    }

    def __getattr__(name: str) -> ModuleType:
        """A module of the bindings, imported when first asked for."""
        if name not in _MODULES:
            raise AttributeError(name)
        with nullcontext() if with_numpy or "." in _MODULES[name] else _numpy_hidden():
            module = import_module(f"{provider()}.{_MODULES[name]}")
        globals()[name] = module
        return module
