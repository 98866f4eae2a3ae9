"""Chains of instructions compiled as one function, against numpy's one after the other."""

from __future__ import annotations

import ctypes
import random

import numpy as np
import pytest
from tilec.isa import LANES
from tilec.sim.alu import resolve
from tilec.sim.alu.bits import Array, register_dtype
from tilec.sim.native import fused
from tilec.sim.native.library import library

from .test_native_forms import COMMON, _form, _operand, _spelled

pytestmark = pytest.mark.skipif(library() is None, reason="no machine code for this processor")

LENGTH = 24
"""Instructions of a chain."""
PLACE = 8 * LANES
"""Bytes of the place of a value, of 64 bits at most."""
LITERAL = 0x9A


class Chain:
    """A chain of instructions, each of which takes what came before, if it can.

    Attributes:
        inputs: places and values that nothing computes.
        results: places of results, and what numpy computes.
        made: the instruction of each.
    """

    def __init__(self, seed: int, count: int) -> None:
        self.inputs: list[tuple[int, Array]] = []
        self.results: list[tuple[int, Array]] = []
        self.made: list[str] = []
        self.operations: list[fused.Operation] = []
        self.forms: dict[str, str] = {}
        self.declared = frozenset[str]()
        self._draw, self._rng = random.Random(seed), np.random.default_rng(seed)
        self._count = count
        self._places = 0
        self._held: dict[np.dtype, list[tuple[int, Array]]] = {}
        for _ in range(LENGTH):
            self._add(self._draw.choice(COMMON.split()))

    def _place(self, value: Array, to: list[tuple[int, Array]]) -> int:
        place = PLACE * self._places
        self._places += 1
        to.append((place, value))
        self._held.setdefault(value.dtype, []).append((place, value))
        return place

    def _add(self, text: str) -> None:
        opcode, spelling, types = _spelled(text)
        form = _form(opcode, spelling, types, LITERAL)
        assert form is not None
        self.forms[form.name] = form.text
        self.declared |= form.declared
        operands, places = [], []
        for number, type_ in enumerate(types.operands):
            held = self._held.get(register_dtype(type_), [])
            constant = (opcode, number) in (("lop3", 3), ("prmt", 2))
            if constant:
                value = np.full(self._count, LITERAL, np.uint32)
                place = self._place(value, self.inputs)
            elif held and self._draw.random() < 0.8:
                place, value = self._draw.choice(held[-6:])
            else:
                value = _operand(self._rng, type_, self._count)
                place = self._place(value, self.inputs)
            operands.append(value)
            places.append(place)
        made = resolve(opcode, spelling, len(types.results), len(types.operands))(*operands)
        made = made if len(types.results) > 1 else (made,)
        targets = [
            self._place(np.broadcast_to(one, self._count).astype(register_dtype(t)), self.results)
            for one, t in zip(made, types.results, strict=True)
        ]
        self.made += [text] * len(targets)
        self.operations.append((form.name, targets + places, [], 0))

    @property
    def bytes(self) -> int:
        """What all places take."""
        return PLACE * self._places


def _tables(places: list[tuple[int, Array]]) -> list[fused.Places]:
    return [(0, place, 0, value.itemsize.bit_length() - 1) for place, value in places]


def _check(seed: int, count: int) -> None:
    chain, found = Chain(seed, count), library()
    assert found is not None
    name, written = fused.write(
        _tables(chain.inputs), chain.operations, _tables(chain.results), chain.bytes, chain.forms
    )
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(
        fused.address(found, name, written, chain.declared)
    )
    room = np.zeros(chain.bytes + PLACE, np.uint8)
    file = room[-room.ctypes.data % PLACE :]
    for row in range(0, count, LANES):
        lanes = slice(row, row + LANES)
        for place, value in chain.inputs:
            part = np.ascontiguousarray(value[lanes]).view(np.uint8)
            file[place : place + part.size] = part
        run(file.ctypes.data)
        for (place, value), text in zip(chain.results, chain.made, strict=True):
            part = np.ascontiguousarray(value[lanes]).view(np.uint8)
            assert file[place : place + part.size].tobytes() == part.tobytes(), (seed, text)


@pytest.mark.parametrize(
    "seed", [*range(6), *(pytest.param(n, marks=pytest.mark.slow) for n in range(6, 600))]
)
def test_chains(seed: int) -> None:
    _check(seed, 256 if seed < 6 else 1024)
