"""MLIR's bytecode of programs, with bytes changed, left out and put in."""

from __future__ import annotations

import random
from functools import cache

import seeds
from case import Case, Reached
from contexts import compiled_once, context

_ENCODING = "latin-1"
"""A byte of the file is a character of the case's text."""
_PROGRAMS = 40
_HEAD = 4
"""Bytes that say that it is bytecode, without which it is read as text."""
_BYTES = (0, 1, 2, 127, 128, 254, 255)


def prepare() -> None:
    """Write bytecode of some programs."""
    compiled_once()
    _written()


@cache
def _written() -> tuple[bytes, ...]:
    from tilec.frontend.bytecode import write_bytecode
    from tilec.frontend.parsing import parse
    from tilec.report.diagnostics import Source, reports

    with reports():
        return tuple(
            write_bytecode(parse(Source("-", text), context()))
            for text, _ in seeds.valid()[:_PROGRAMS]
        )


def make(rng: random.Random) -> Case:
    """Bytecode with some changes."""
    data = bytearray(rng.choice(_written()))
    for _ in range(rng.choice((1, 1, 1, 2, 5, 20))):
        at = rng.randrange(_HEAD, len(data))
        match rng.randrange(5):
            case 0:
                data[at] ^= 1 << rng.randrange(8)
            case 1:
                data[at] = rng.choice(_BYTES)
            case 2:
                del data[at : at + rng.randrange(1, 9)]
            case 3:
                data[at:at] = rng.randbytes(rng.randrange(1, 9))
            case _:
                other = rng.choice(_written())
                start = rng.randrange(len(other))
                data[at : at + 8] = other[start : start + 8]
        if len(data) <= _HEAD:
            break
    return Case("bytecode", data.decode(_ENCODING), {})


def run(case: Case) -> Reached:
    """Read it, and pass what it holds as `tile-opt` does."""
    from tilec.frontend.bytecode import read_bytecode
    from tilec.isa import TilecError
    from tilec.passes.base import remarks
    from tilec.passes.pipeline import run_pipeline
    from tilec.report.diagnostics import reports
    from tilec.report.printing import to_text

    with remarks(), reports():
        try:
            module = read_bytecode(case.text.encode(_ENCODING, "replace"), context())
        except TilecError:
            return Reached.REFUSED
        try:
            run_pipeline(module, "canonicalize,cse")
            to_text(module)
        except TilecError:
            pass
    return Reached.VERIFIED
