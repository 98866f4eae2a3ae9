"""What a compilation depends on besides its program: the code of tilec, MLIR and LLVM."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from functools import cache
from importlib.util import find_spec
from itertools import chain

from tilec import version
from tilec.ir import mlir

_OURS = (
    "tilec",
    "tilec.dialects",
    "tilec.ir",
    "tilec.isa",
    "tilec.lang",
    "tilec.layout",
    "tilec.passes",
)
_BESIDE = ("tilec.runtime", "tilec.sim", "tilec.tools", "tilec.tuning")
"""Packages that take what comes out, and change nothing about it."""


def fingerprint() -> str | None:
    """What tells the code that compiles from any other; None if it changed under this process.

    Of tilec, all files of the code that compiles count, so that a pass that somebody edits is
    another tilec; of MLIR's bindings and llvmlite their libraries. A file is told by size and time.
    """
    ours = sorted(_python_files())
    if any(changed > version.imported * 1e9 for _, _, changed in ours):
        return None  # this process may have imported the file as it was before
    return repr((version.__version__, ours, _libraries()))


@cache
def _libraries() -> tuple[tuple[str, int, int], ...]:
    """Those of MLIR's bindings and llvmlite, which stay loaded."""
    found: list[tuple[str, int, int]] = []
    for package, inside in ((mlir.provider(), "_mlir_libs"), ("llvmlite", "binding")):
        for folder in _folders(package):
            found += (_state_of(entry) for entry in os.scandir(os.path.join(folder, inside)))
    return tuple(sorted(found))


def _python_files() -> Iterator[tuple[str, int, int]]:
    """Those of the packages, each once: as a wheel lays them out, one package is in another."""
    folders = {package: _folders(package) for package in (*_OURS, *_BESIDE)}
    apart = frozenset(chain(*folders.values()))
    for folder in chain(*(folders[package] for package in _OURS)):
        yield from _inside(folder, apart)


def _inside(folder: str, apart: Collection[str]) -> Iterator[tuple[str, int, int]]:
    for entry in os.scandir(folder):
        if entry.name.endswith(".py"):
            yield _state_of(entry)
        elif entry.path not in apart and _is_package(entry):
            yield from _inside(entry.path, apart)


def _is_package(entry: os.DirEntry[str]) -> bool:
    return entry.name != "__pycache__" and entry.name.isidentifier() and entry.is_dir()


def _state_of(entry: os.DirEntry[str]) -> tuple[str, int, int]:
    status = entry.stat()
    return entry.name, status.st_size, status.st_mtime_ns


def _folders(package: str) -> list[str]:
    spec = find_spec(package)
    return list(spec.submodule_search_locations or ()) if spec else []
