"""What results are of: a kernel, its problem, target, device, and the versions that compiled it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib import metadata, resources
from importlib.resources.abc import Traversable

_OURS = ("dialects", "ir", "isa", "lang", "layout", "passes", "backend", "launch", "tuning")
"""Packages of tilec whose code decides what a candidate is, and what is counted of it."""
_BESIDE = ("llvmlite", "torch-mlir")


@dataclass(frozen=True)
class StudyKey:
    """What tells the candidates of one study from all others.

    Attributes:
        kernel: its name.
        digest: of its program and arguments.
        sizes: of the problem, by name.
        types: of the arguments, as declared.
        target: such as `sm_90a`.
        device: what it is measured on, such as `NVIDIA H200`; `model` where nothing is.
        versions: of what compiles and counts.
    """

    kernel: str
    digest: str
    sizes: Mapping[str, int]
    types: Mapping[str, str]
    target: str
    device: str
    versions: Mapping[str, str]

    @property
    def json(self) -> str:
        """The key as a text that no other has."""
        return json.dumps(asdict(self), sort_keys=True)

    @property
    def id(self) -> str:
        """A short name of it."""
        return hashlib.blake2b(self.json.encode(), digest_size=16).hexdigest()


@cache
def versions() -> Mapping[str, str]:
    """Of tilec, with the digest of the code that compiles and counts, and of MLIR and LLVM."""
    found = {"tilec": metadata.version("tilec"), "code": code_of(*_OURS)}
    for name in _BESIDE:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "none"
    return found


@cache
def code_of(*packages: str) -> str:
    """The digest of the files of some of tilec's packages, wherever they lie."""
    made = hashlib.blake2b(digest_size=8)
    root = resources.files("tilec")
    for package in packages:
        _add(made, root / package, package)
    return made.hexdigest()


def _add(made: hashlib.blake2b, folder: Traversable, name: str) -> None:
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        if entry.name.endswith(".py"):
            made.update(f"{name}/{entry.name}\0".encode())
            made.update(entry.read_bytes())
        elif entry.is_dir() and entry.name.isidentifier() and entry.name != "__pycache__":
            _add(made, entry, f"{name}{os.sep}{entry.name}")
