"""Binaries through the cache: those that ptxas made of the same PTX."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

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
    found = entries.find(key)
    if found is not None:
        path, version = found["assembler"]
        resources = {name: cubin.Resources(**of) for name, of in found["resources"].items()}
        binary = bytes.fromhex(found["cubin"])
        notes = tuple(cubin.Note(**of) for of in found["notes"])
        return cubin.Assembled(binary, resources, cubin.Tool(path, tuple(version)), notes)
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


def _state_of(path: str) -> tuple[str, int, int]:
    status = Path(path).stat()
    return path, status.st_size, status.st_mtime_ns
