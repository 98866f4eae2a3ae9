"""PTX, of tilec and by hand: read, checked, and run on the simulator for some steps."""

from __future__ import annotations

import random
from functools import cache

import mutations
import seeds
from case import Case, Reached

_STEPS = 100
_SHORT = 4_500
"""Characters of the texts that are tried most: what is longer takes longer."""
_NUMBER_OF_ARGUMENTS = 12


@cache
def _texts() -> tuple[str, ...]:
    """PTX of the examples, and of every family of instructions."""
    import tilec
    from tilec.isa import forms, target
    from tilec.isa.kernel import kernel

    found: list[str] = []
    for path in sorted((seeds.ROOT / "examples").rglob("*.mlir")):
        try:
            found.append(tilec.compile(path).ptx)
        except tilec.TilecError:
            continue
    rng = random.Random(0)
    for form in rng.sample(sorted(forms()), 40):
        try:
            found.append(kernel(forms()[form], target("sm_90a")).ptx)
        except (tilec.TilecError, NotImplementedError):
            continue
    constructs = seeds.ROOT / "test/unit/sim/constructs.ptx"
    return (*[text for text in found if len(text) < 40_000], constructs.read_text(encoding="utf-8"))


@cache
def _words() -> tuple[str, ...]:
    found: set[str] = set()
    for text in _texts():
        found.update(line.split()[0] for line in text.splitlines() if line.strip())
    return tuple(sorted(found))


def prepare() -> None:
    """Compile the examples."""
    _words()


@cache
def _short() -> tuple[str, ...]:
    return tuple(text for text in _texts() if len(text) < _SHORT)


def make(rng: random.Random) -> Case:
    """A text with changes."""
    text = rng.choice(_texts() if rng.random() < 0.05 else _short())
    if rng.random() < 0.95:
        text = mutations.mutated(text, rng, _words(), rng.choice(_texts()))
    return Case("ptx", text, {"block": rng.choice((1, 32, 33, 64, 128)), "seed": rng.randrange(9)})


def run(case: Case) -> Reached:
    """Read; check each kernel; run it with arrays for pointers."""
    import numpy as np
    from tilec import sim
    from tilec.isa import TilecError
    from tilec.sim.ptx import read_text

    try:
        module = read_text(case.text)
    except TilecError:
        return Reached.REFUSED
    reached = Reached.VERIFIED
    for function in list(module.functions.values())[:3]:
        if not function.entry or function.body is None:
            continue
        try:
            sim.check(module, function.name)
            block = function.directives.get("reqntid") or (case.options["block"],)
            arguments = [
                np.zeros(256, np.float32) if one.size == 8 else np.int32(case.options["seed"])
                for one in function.parameters[:_NUMBER_OF_ARGUMENTS]
            ]
            sim.launch(module, function.name, 1, block, arguments, max_steps=_STEPS)
            reached = Reached.RAN
        except TilecError:
            continue
    return reached
