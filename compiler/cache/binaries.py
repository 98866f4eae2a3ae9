"""Binaries through the cache: those that ptxas made of the same PTX."""

from __future__ import annotations

from dataclasses import asdict, astuple
from pathlib import Path
from typing import Any

from tilec.backend import cubin
from tilec.isa import Target

from . import entries


def assemble(ptx: str, target: Target, *, lineinfo: bool) -> cubin.Assembled:
    """The binary of a PTX module, remembered or made and kept.

    Raises:
        AssemblerError: as `cubin.assemble` does.
    """
    installed = [_state_of(path) for path in cubin.candidates("ptxas")]
    key = entries.key("cubin and notes", ptx, target.name, lineinfo, installed)
    found = entries.find(key, _read)
    if found is not None:
        return found
    made = cubin.assemble(ptx, target, lineinfo=lineinfo)
    data = {
        "cubin": made.cubin.hex(),
        "resources": {name: asdict(of) for name, of in made.resources.items()},
        "notes": [asdict(note) for note in made.notes],
        "assembler": (made.assembler.path, made.assembler.version),
    }
    names = ", ".join(made.resources)
    entries.keep(key, data, kind="cubin", name=names, target=target.name)
    return made


def _read(data: Any) -> cubin.Assembled:
    """What was kept of a binary; raises for anything else."""
    path, version = data["assembler"]
    resources = {name: cubin.Resources(**of) for name, of in data["resources"].items()}
    numbers = [*version, *(number for of in resources.values() for number in astuple(of))]
    if not isinstance(path, str) or not all(type(number) is int for number in numbers):
        raise TypeError("no resources")
    notes = tuple(cubin.Note(**of) for of in data["notes"])
    if not all(type(note.line) is int and isinstance(note.message, str) for note in notes):
        raise TypeError("no notes")
    binary = bytes.fromhex(data["cubin"])
    cubin.check_cubin(binary, "the cache has")
    return cubin.Assembled(binary, resources, cubin.Tool(path, tuple(version)), notes)


def _state_of(path: str) -> tuple[str, int, int]:
    status = Path(path).stat()
    return path, status.st_size, status.st_mtime_ns
